#pragma once

// One chart of the planner: dots that are picked and opened by mouse and keys.

#include "gui/plan/plan_plots.h"
#include "gui/widgets/chart.h"
#include "gui/widgets/panel.h"

namespace trainyard::gui {

class PlanChart : public Panel {
    Q_OBJECT

public:
    PlanChart(QString key, QString title, QWidget* parent = nullptr);

    QString key() const override { return key_; }
    QString title() const override { return title_; }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;

    // `plan`: whose rows the plot is of; kept.
    void show_plot(std::shared_ptr<const ShownPlan> plan, PlanPlot plot);
    // In place of a picture.
    void show_message(const QString& message);
    bool shows_plot() const { return !plot_.empty(); }
    void set_stale(bool stale) { chart_->set_pale(stale); }
    void set_current(std::optional<std::size_t> entry);

    Chart& chart() { return *chart_; }
    // The dot of an entry, in pixels of the chart; none where it has none.
    std::optional<QPointF> place_of(std::size_t entry) const;

signals:
    void picked(std::size_t entry);
    void opened(std::size_t entry);
    void menuWanted(std::size_t entry, const QPoint& global);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Drawn {
        QCPGraph* graph;
        QCPGraph* chosen;
    };

    void draw();
    void colour();
    void fit_range();
    std::optional<std::size_t> entry_at(const QPointF& place) const;
    bool take_key(int key);
    void step(int by);

    QString key_;
    QString title_;
    QString message_;
    std::shared_ptr<const ShownPlan> plan_;
    PlanPlot plot_;
    std::optional<std::size_t> current_;
    Chart* chart_;
    std::vector<Drawn> drawn_;
    QCPGraph* best_ = nullptr;
    QCPGraph* mark_ = nullptr; // of the current one
};

} // namespace trainyard::gui
