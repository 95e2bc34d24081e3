#pragma once

// Screen "explore": what is swept, the scatter and table of what was found, and the comparison of
// what was pinned.

#include "gui/explore/explore_state.h"
#include "gui/explore/importance_panel.h"
#include "gui/explore/parallel_panel.h"
#include "gui/explore/saved_points.h"
#include "gui/explore/scatter_panel.h"
#include "gui/explore/sweep_job.h"
#include "gui/model/background_task.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabWidget;
class QTableView;
class QTimer;
class QToolButton;
class QVBoxLayout;

namespace trainyard::gui {

class ElidedLabel;
class ProgressStrip;
class RangesView;

class ExplorePanel : public Panel {
    Q_OBJECT

public:
    explicit ExplorePanel(Workspace& workspace, QWidget* parent = nullptr);
    ~ExplorePanel() override;

    QString key() const override { return QStringLiteral("explore"); }
    QString title() const override { return tr("Explorer"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override { return scatter_->table(); }
    std::vector<Panel*> parts() override { return {scatter_, parallel_, importance_, compare_}; }
    void show_part(const QString& key) override;
    std::vector<KeyHelp> key_help() const override;
    bool busy() const override;
    // What was found and compared stays.
    void cancel() override;
    // Sweeps what is chosen at first, unless that takes long.
    void prepare_picture() override;

    // What is chosen, found and pinned.
    const PointStore& store() const { return store_; }
    const std::vector<AxisRange>& ranges() const;
    void set_ranges(std::vector<AxisRange> ranges);
    SweepJob& job() { return job_; }
    Marks& marks() { return marks_; }
    ScatterPanel& scatter() { return *scatter_; }
    ParallelPanel& parallel() { return *parallel_; }
    ImportancePanel& importance() { return *importance_; }
    ComparePanel& compare() { return *compare_; }
    // The open scenario among the points, or the store's guest; nothing: there are no points.
    std::optional<std::uint32_t> here() const { return here_; }
    // For sessions. Ranges are chosen as soon as what there is to sweep is known.
    ExploreState state() const;
    void restore(const ExploreState& state);
    // Whether the points are those of an earlier scenario.
    bool stale() const { return swept_ && stale_; }

    void start();
    // The points of a file, over the scenario that it holds, else over the one that is open.
    void show_saved(std::shared_ptr<const SavedSweep> saved);
    // What was found, for `open` of the window. Nothing is written where there is nothing.
    void save(const std::string& file);
    // Where the points shown were saved, or came from; empty: nowhere.
    const std::string& file() const { return file_; }
    void open(std::uint32_t point);
    void pin(std::uint32_t point);
    void show_menu(std::uint32_t point, const QPoint& global);

signals:
    void swept(); // to its end, or cancelled; or all points of a file are there
    void saved();
    void told(const trainyard::Problems& problems);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void make_tools(QVBoxLayout& layout);
    QWidget* make_points();
    void connect_pictures();
    void follow_colour();
    void show_on_axis(const QString& key);
    void say_below(const QString& note);
    QWidget* make_table();
    void connect_all();
    void follow_document();
    void follow_run();
    void follow_sight();
    void find_facts();
    void cancel_facts();
    bool finding_facts() const;
    void refuse_facts(const QString& why);
    void take_facts(const Checked<SweepFacts>& facts);
    const ClusterDraft* cluster() const { return cluster_ ? &*cluster_ : nullptr; }
    void apply_preset(int preset);
    void follow_ranges();
    void take_points(std::vector<FoundPoint> points);
    void take_end(const QString& problem);
    void take_saved(const SavedSweep& saved, Checked<SavedPoints> points);
    void read_again(const std::string& file);
    void ask_save();
    void show_points_of(SweepPlan plan);
    void follow_origin();
    void follow_here();
    std::vector<Metric> shown_metrics() const;
    void restart_views();
    void follow_price();
    void tell_plan();
    void tell_progress();
    void tell_found();
    void show_page();
    void take_rows();
    void follow_marks();
    void follow_current();
    void follow_pins();
    void fit_columns();
    void set_state(const QString& text);
    double seconds_per_point() const;

    Workspace& workspace_;
    PointStore store_;
    Marks marks_;
    SweepJob job_;
    std::optional<SweepFacts> facts_;
    std::optional<ClusterDraft> cluster_;   // of the open scenario; nothing: it is not generated
    std::optional<SweepPlan> plan_;         // of what is chosen
    QString refusal_;                       // why there is none
    QString left_out_;                      // of a preset: what would make too many points
    std::optional<SweepPlan> swept_;        // of the points shown
    std::optional<Scenario> swept_from_;    // their scenario, at the grid's first point
    bool stale_ = false;                    // the one that is open differs in more
    std::optional<std::size_t> here_index_; // of the open scenario in their grid
    std::optional<std::uint32_t> here_;     // the open scenario, as pictures and rows have it
    std::string file_;                      // that has them
    QString source_;                        // said of points from a file
    QString failure_;                       // of the last sweep
    QString opened_;                        // name of the point opened last, and what that made
    Json opened_as_;
    double seconds_per_point_ = 0; // of the last sweep; 0: none yet
    bool picture_wanted_ = false;
    std::vector<SweptField> awaited_; // of a session: chosen once there are ranges

    RangesView* ranges_;
    PointsModel* rows_;
    ScatterPanel* scatter_;
    ParallelPanel* parallel_;
    ImportancePanel* importance_;
    ComparePanel* compare_;
    QComboBox* preset_;
    QPushButton* start_;
    QToolButton* pause_;
    QToolButton* cancel_;
    QToolButton* save_;
    QToolButton* show_ranges_;
    QProgressBar* progress_;
    ProgressStrip* reading_;
    ElidedLabel* state_;
    QStackedWidget* page_;
    QLabel* message_;
    QTabWidget* tabs_;
    QTabWidget* pictures_; // of the points
    QLineEdit* filter_;
    QComboBox* shown_;
    QLabel* count_;
    QTableView* view_;
    QTimer* facts_timer_;
    QTimer* filter_timer_;
    bool following_ = false;
    BackgroundTask facts_task_; // reads what there is to sweep
    BackgroundTask file_task_;  // reads and writes sweeps
};

} // namespace trainyard::gui
