#pragma once

// The window: docks with the views of one workspace, menus, and where files come and go.

#include "gui/app/file_opener.h"
#include "gui/model/session_file.h"
#include "gui/model/workspace.h"
#include "gui/widgets/panel.h"
#include "gui/widgets/theme.h"

#include <QMainWindow>
#include <functional>
#include <map>

class QAction;
class QDockWidget;
class QTimer;
class QToolBar;

namespace trainyard::gui {

class AdviceLine;
class CalibrationPanel;
class ClusterDialog;
class ExplorePanel;
class NewJobPage;
class OriginView;
class PlanPanel;
class ProblemsButton;
class ProblemsView;
class ProgressStrip;
class RecordedPanel;
class ScenarioPanel;
class StartPage;
class TimelinePanel;
struct FirstJob;

// Where what is remembered between runs lies.
struct Places {
    std::filesystem::path autosave;
    bool remember = true; // recent files, layout and theme
};

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(Places places, QWidget* parent = nullptr);
    ~MainWindow() override;

    Workspace& workspace() { return workspace_; }

    // Opens whatever the file is, read in the background; what is wrong is shown among the
    // problems. The second waits until it is open, and is false where it was refused.
    void open_later(const std::string& file);
    bool open(const std::string& file) { return open(std::vector<std::string>{file}); }
    // Traces among several files are of the ranks of one job.
    bool open(const std::vector<std::string>& files);

    // Why the last file was not opened.
    const Problems& refused() const { return refused_; }
    // Whether that was the world (disk, files), not what stands in it.
    bool world_refused() const { return world_refused_; }

    // Whether a view is still being made of the latest run.
    bool busy() const;

    // Every view, in order.
    const std::vector<Panel*>& panels() const { return panels_; }
    Panel* panel(const QString& key) const; // null: there is none
    // Brings it to the front.
    void show_panel(const QString& key);

    // Likewise, and that part of it; without a view: what devices cost.
    void show_part(const QString& view, const QString& part);

    // The page of a new job, as File > New does.
    void show_new();
    // The cluster of the open scenario in its form, as Edit > Cluster does.
    void edit_cluster();

    // False where it could not be written; said among the problems.
    bool save_session(const std::string& file);
    bool export_to(Panel& part, const std::string& file);

    // Asks what to do with a session that a crash left, if there is one; with the name of a file
    // only of that scenario. True: it is open now.
    bool offer_recovery(const std::string& of = {});

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void make_docks();
    void add_panel(Panel* panel, Qt::DockWidgetArea area);
    QDockWidget* add_dock(QWidget* widget, const QString& key, const QString& title);
    void begin();
    void restore_layout(const QByteArray& layout);
    void reset_layout();
    void show_measurements();
    void show_new_with(const QString& model);
    void begin_plan();
    void take_first_job(const FirstJob& job);
    void take_job(OpenedJob job);
    void take_part(const OpenedPart& part);
    void take_sweep(OpenedSweep sweep);
    void show_recorded();
    void open_traces();
    void arrange();
    void make_menus();
    void make_file_menu();
    void make_run_menu();
    void make_view_menu();
    void make_status();
    void restore();
    void remember();

    void take_opened(const std::string& file, Checked<Opened> content);
    void take(SessionContent content, const std::string& session);
    SessionContent content();
    void add_recent(const QString& file);

    void ask_open();
    bool save_scenario();
    bool save_scenario_as();
    void ask_save_session();
    Panel* front_panel() const; // in sight: that with the focus, else any
    Panel* front_part() const;  // of that view
    void ask_export(Panel& part);
    void ask_price();
    void show_table(const Panel& part);
    std::vector<QString> dock_order() const;
    std::vector<QWidget*> places_in_sight() const; // that F6 visits
    void walk_places(int by);
    void close_view();
    void show_keys();
    void show_about();
    void cancel();
    void follow_busy();
    void follow_sight();
    // Nothing: the desktop's.
    void set_theme(std::optional<Theme> theme);
    // Runs it; what the world refuses is shown among the problems. False then.
    bool attempt(const std::function<void()>& what);
    void tell(const Problems& problems);
    void follow_problems();
    void toggle_problems();
    // False: the user wants to stay.
    bool may_leave();
    void follow_document();

    Places places_;
    Workspace workspace_;
    FileOpener opener_;
    Autosave autosave_;
    QTimer* autosave_timer_;
    QToolBar* headline_ = nullptr;
    AdviceLine* advice_ = nullptr; // in it
    StartPage* start_ = nullptr;
    NewJobPage* new_job_ = nullptr;    // null: not wanted yet
    ClusterDialog* cluster_ = nullptr; // likewise
    bool plan_wanted_ = false;         // of a new job: it goes on to the plan
    ScenarioPanel* scenario_ = nullptr;
    TimelinePanel* timeline_ = nullptr;
    CalibrationPanel* calibration_ = nullptr;
    RecordedPanel* recorded_ = nullptr;
    ExplorePanel* explore_ = nullptr;
    PlanPanel* plan_ = nullptr;
    ProblemsView* problems_ = nullptr;
    OriginView* origin_ = nullptr;
    ProblemsButton* problems_button_ = nullptr;
    bool wrong_ = false; // the scenario has errors
    std::vector<Panel*> panels_;
    std::map<QString, QDockWidget*> docks_;
    ProgressStrip* progress_ = nullptr;
    std::optional<Theme> theme_; // that was chosen in this run
    QAction* cancel_ = nullptr;
    QStringList recent_;
    QByteArray layout_;               // of the docks, as they were left
    bool begun_ = false;              // there is a scenario
    bool arranged_ = false;           // its views have their sizes
    int unopened_ = 0;                // files that were asked for together
    std::vector<std::string> traces_; // among them, so far
    Problems refused_;
    bool world_refused_ = false;
};

} // namespace trainyard::gui
