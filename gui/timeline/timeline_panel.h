#pragma once

// Screen "timeline": the canvas with its search, the details of what is pinned and a table of what
// is selected.

#include "gui/model/background_task.h"
#include "gui/model/workspace.h"
#include "gui/timeline/lane_state.h"
#include "gui/timeline/range_table.h"
#include "gui/timeline/timeline_canvas.h"
#include "gui/widgets/panel.h"

class QBoxLayout;
class QCheckBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QTextBrowser;
class QTimer;

namespace trainyard::gui {

class CounterFeed;
class OverviewStrip;
class ProgressStrip;
class RecordMenu;
class TimelineSearch;

class TimelinePanel : public Panel {
    Q_OBJECT

public:
    explicit TimelinePanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("timeline"); }
    QString title() const override { return tr("Timeline"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    // What is in the selected stretch of time, else in the one in sight.
    TableData table() const override;

    // While it is being made, the run before is shown. Counters hold up nothing but pictures.
    bool busy() const override;
    void prepare_picture() override { counts_for_picture_ = true; }
    void cancel() override;
    std::vector<KeyHelp> key_help() const override;
    bool wants_ops() const override { return true; }
    LaneState lanes() const;
    void restore(const LaneState& lanes);
    TimelineCanvas& canvas() { return *canvas_; }
    OverviewStrip& overview() { return *overview_; }
    CounterFeed& counters() { return *counters_; }

private:
    void make_tools(QLayout* layout);
    QWidget* make_lanes_menu();
    QWidget* make_counters_menu();
    void follow_counters();
    void make_progress(QBoxLayout* layout);
    void make_details();
    void follow_run();
    void take(const std::shared_ptr<const TimelineModel>& model);
    void fill_details();
    void fill_table();
    std::vector<RangeEntry> entries() const;

    Workspace& workspace_;
    TimelineCanvas* canvas_;
    OverviewStrip* overview_;
    CounterFeed* counters_;
    ProgressStrip* progress_;
    RecordMenu* recorded_;
    TimelineSearch* search_;
    QCheckBox* path_;
    QCheckBox* compare_;
    QTextBrowser* details_;
    QLabel* range_;
    QTableView* table_;
    RangeTable* entries_;
    QSortFilterProxyModel* sorted_;
    QTimer* table_timer_;
    std::shared_ptr<const RunView> run_;      // of the latest request
    std::shared_ptr<const RunView> baseline_; // beside it; null: none
    bool counts_for_picture_ = false;
    LaneOrder order_ = LaneOrder::stage; // of the latest request
    BackgroundTask task_;
};

} // namespace trainyard::gui
