#pragma once

// One link: what it has, what it carries over time, and who sends over it. The chart is a view of
// its own, for export.

#include "gui/model/view_state.h"
#include "gui/topology/link_tables.h"
#include "gui/widgets/chart.h"

class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;
class QTabWidget;
class QToolButton;

namespace trainyard::gui {

// Load over the time in sight, with the capacity as a line.
class LinkChart : public Panel {
    Q_OBJECT

public:
    explicit LinkChart(ViewState& view, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("topology-link"); }
    QString title() const override { return tr("Use of a link over time"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;

    void show_link(std::shared_ptr<const TopologyRun> run, std::optional<LinkId> link);
    Chart& chart() { return *chart_; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void colour();
    void fill();
    void fill_cursor();
    QString tip_at(double milliseconds) const;

    ViewState& view_;
    Chart* chart_;
    QCPGraph* load_;
    QCPItemStraightLine* capacity_;
    QCPItemStraightLine* cursor_;
    std::shared_ptr<const TopologyRun> run_;
    std::optional<LinkId> link_;
};

class LinkPane : public QWidget {
    Q_OBJECT

public:
    explicit LinkPane(ViewState& view, QWidget* parent = nullptr);

    void set_run(std::shared_ptr<const TopologyRun> run);
    // Of the run.
    void set_picture(std::shared_ptr<const TopologyPicture> picture);
    // What there is to say of the thing chosen, rich; shown while no link is.
    void set_place(const QString& html) { place_ = html; }
    void show_link(std::optional<LinkId> link);
    void say(const QString& problem); // of an edit; empty: none
    LinkChart& chart() { return *chart_; }
    FlowTable& flows() { return *flows_; }
    LinkTable& links() { return *links_; }
    QTableView& flow_view() { return *flow_view_; }
    QTableView& link_view() { return *link_view_; }

signals:
    void linkWanted(trainyard::LinkId link);
    void editWanted(QChar what);

private:
    QWidget* make_facts();
    QTableView* make_table(const QString& name, QAbstractItemModel* model,
                           QSortFilterProxyModel* sorted);
    void fill();

    ViewState& view_;
    std::shared_ptr<const TopologyRun> run_;
    QString place_;
    std::optional<LinkId> link_;
    LoadTime time_;
    QLabel* facts_;
    QLabel* problem_;
    LinkChart* chart_;
    QTabWidget* tabs_;
    LinkTable* links_;
    FlowTable* flows_;
    QSortFilterProxyModel* sorted_links_;
    QSortFilterProxyModel* sorted_flows_;
    QTableView* link_view_;
    QTableView* flow_view_;
    std::vector<QToolButton*> edits_;
};

} // namespace trainyard::gui
