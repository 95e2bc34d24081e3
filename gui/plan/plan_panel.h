#pragma once

// Screen "plan": the best layouts of the scenario's cluster, or which cluster trains a model as
// somebody wants it.

#include "gui/explore/compare_panel.h"
#include "gui/plan/plan_chart.h"
#include "gui/plan/plan_job.h"
#include "gui/plan/plan_rows.h"
#include "sim/study/jobs/job_import.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QSplitter;
class QTabWidget;
class QTableView;
class QTimer;
class QToolButton;
class QVBoxLayout;

namespace trainyard::gui {

class ElidedLabel;
class PlanForm;
class TablePart;

class PlanPanel : public Panel {
    Q_OBJECT

public:
    explicit PlanPanel(Workspace& workspace, QWidget* parent = nullptr);
    ~PlanPanel() override;

    QString key() const override { return QStringLiteral("plan"); }
    QString title() const override { return tr("Planner"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override { return rows_->table(); }
    std::vector<Panel*> parts() override;
    std::vector<KeyHelp> key_help() const override;
    bool busy() const override;
    // What was found stays, and is told.
    void cancel() override;
    // Plans the best layout of the scenario's cluster, for some seconds at most.
    void prepare_picture() override;

    PlanQuestion question() const;
    void set_question(const PlanQuestion& question);
    // In the price's currency. Null: none yet.
    const std::shared_ptr<const ShownPlan>& plan() const { return plan_; }
    PlanJob& job() { return job_; }
    // Whether what is wrong with the question as it stands is told.
    bool checked() const;
    // Whether the answer is of an earlier scenario or another question.
    bool stale() const;

    void start();
    // Of the answer's entries. Each does nothing for one that has no scenario.
    void open(std::size_t entry);
    void pin_baseline(std::size_t entry);
    void compare(std::size_t entry);
    // Written in the background; `told` says what became of it. Nothing of `kind`: a scenario.
    void export_to(std::size_t entry, std::optional<JobKind> kind, const std::string& file);
    void show_menu(std::size_t entry, const QPoint& global);

signals:
    void answered();
    void compareWanted(const trainyard::gui::Pin& pin);
    void told(const trainyard::Problems& problems);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void make_tools(QVBoxLayout& layout);
    QWidget* make_answer();
    QWidget* make_rows();
    void connect_all();
    void follow_question();
    void follow_price();
    void find_way_out();
    void open_smallest();
    void check();
    void take_problems(const Problems& problems);
    void take(const std::shared_ptr<const ShownPlan>& plan);
    void refuse(const Problems& problems);
    void follow_job();
    void tell();
    void tell_progress();
    void show_answer();
    void follow_entry(std::size_t entry);
    std::optional<std::size_t> current() const;
    const PlanEntry* usable(std::size_t entry) const;
    Json scenario_of(const PlanEntry& entry) const;
    void ask_export(std::size_t entry, std::optional<JobKind> kind);
    void fit_columns();

    Workspace& workspace_;
    PlanJob job_;
    std::shared_ptr<const ShownPlan> found_; // as it was answered
    std::shared_ptr<const ShownPlan> plan_;
    PlanQuestion asked_;    // of the answer
    Json asked_of_;         // its scenario
    Json opened_as_;        // what became of the scenario when a row was opened
    QString note_;          // of what was done last
    bool possible_ = false; // the question can be asked

    PlanForm* form_;
    PlanRows* rows_;
    PlanChart* first_;
    PlanChart* second_;
    TablePart* left_out_; // or not looked at, and why
    QPushButton* start_;
    QToolButton* cancel_;
    QToolButton* show_form_;
    QProgressBar* progress_;
    ElidedLabel* state_;
    QLabel* headline_;
    QPushButton* smallest_; // where nothing fits: opens the scenario on the cluster that holds it
    QPushButton* nearest_;  // likewise: settings with which it fits where it is
    QLabel* verdicts_;
    QTabWidget* tabs_;
    QTableView* view_;
    QTimer* check_timer_;
    bool picking_ = false;
    BackgroundTask check_task_;
    BackgroundTask export_task_;
    BackgroundTask choices_task_;
    BackgroundTask way_out_task_;
};

} // namespace trainyard::gui
