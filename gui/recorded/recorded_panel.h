#pragma once

// Screen "recorded": a step that ran, op by op above the simulated step of the same job, and in
// tables what each kind of time, of kernels and of transfers takes in the one and in the other.

#include "gui/model/workspace.h"
#include "gui/recorded/recording.h"
#include "gui/timeline/timeline_canvas.h"
#include "gui/widgets/table_part.h"

class QAction;
class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QToolBar;
class QStackedWidget;
class QTabWidget;
class QTextBrowser;

namespace trainyard::gui {

class ElidedLabel;
class ProgressStrip;
class TimelineSearch;

class RecordedPanel : public Panel {
    Q_OBJECT

public:
    explicit RecordedPanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("recorded"); }
    QString title() const override { return tr("Recorded"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    // What differs; of a recording that stands alone its ranks.
    TableData table() const override;
    std::vector<Panel*> parts() override;
    std::vector<KeyHelp> key_help() const override;
    bool busy() const override { return recording_.busy(); }
    void cancel() override;

    Recording& recording() { return recording_; }
    TimelineCanvas& canvas() { return *canvas_; }
    QString headline() const;

    void ask_open();
    void ask_folder();

signals:
    void told(const trainyard::Problems& problems);
    void opened();                         // traces: time to show this view
    void wanted(const QStringList& files); // files or folders to be opened as traces

private:
    void make_tools(QToolBar& tools);
    QAction* add_tool(QToolBar& tools, const QString& text, const QString& tip);
    QWidget* make_start();
    QWidget* make_body();
    TablePart* add_part(const char* key, const QString& title);
    void ask_add();
    void ask_save();
    void follow_run();
    void follow_view();
    void follow_busy();
    void fill_steps();
    void fill_tables();
    void fill_headline();
    void fill_details();
    void say(const QString& text);

    Workspace& workspace_;
    Recording recording_;
    ViewState times_; // of the two steps: other than the scenario's alone
    TimelineCanvas* canvas_;
    TimelineSearch* search_;
    ProgressStrip* progress_;
    QStackedWidget* pages_;
    QLabel* start_text_;
    QAction* add_ = nullptr;
    QAction* save_ = nullptr;
    QAction* close_ = nullptr;
    QComboBox* steps_;
    ElidedLabel* head_;
    QLabel* beside_; // over several lines where it is long
    QTabWidget* tabs_;
    QTextBrowser* details_;
    QPlainTextEdit* report_;
    TablePart* differences_;
    TablePart* ranks_;
    TablePart* transfers_;
    TablePart* kernels_;
    TablePart* waits_;
};

} // namespace trainyard::gui
