#include "gui/app/main_window.h"

#include "gui/app/price_dialog.h"
#include "gui/app/start_page.h"
#include "gui/model/form.h"
#include "gui/model/qt_text.h"
#include "gui/scenario/advice_line.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/widgets/problems_button.h"
#include "gui/widgets/problems_view.h"
#include "gui/widgets/progress_strip.h"
#include "gui/widgets/table_dialog.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int autosave_after_ms = 2000;

// "strategy.tp = 3": what the form says there; empty: the problem is of no field.
QString value_words(const Document& document, const std::string& pointer)
{
    std::string field = pointer.empty() ? pointer : pointer.substr(1);
    std::ranges::replace(field, '/', '.');
    if (field.empty())
        return {};
    const Json* const value = document.find(field);
    if (value == nullptr)
        return MainWindow::tr("%1 is not set").arg(text_of(field));
    constexpr int longest = 80;
    QString shown = text_of(edit_text(*value));
    if (shown.size() > longest)
        shown = shown.left(longest) + QStringLiteral(" ...");
    return QStringLiteral("%1 = %2").arg(text_of(field), shown);
}

} // namespace

MainWindow::MainWindow(Places places, QWidget* parent)
    : QMainWindow(parent),
      places_(std::move(places)),
      opener_(workspace_.document(),
              [this](const std::string& file, Checked<Opened> content) {
                  take_opened(file, std::move(content));
              }),
      autosave_(places_.autosave),
      autosave_timer_(new QTimer(this))
{
    setObjectName(QStringLiteral("window"));
    setDockNestingEnabled(true);
    setAcceptDrops(true);
    make_docks();
    make_status();
    make_menus();

    autosave_timer_->setSingleShot(true);
    autosave_timer_->setInterval(autosave_after_ms);
    connect(autosave_timer_, &QTimer::timeout, this, [this] {
        try {
            autosave_.write(content());
        } catch (const WorldError& error) {
            statusBar()->showMessage(
                tr("not saved by itself: %1").arg(QString::fromStdString(error.message)));
        }
    });
    connect(&workspace_.document(), &Document::changed, this, &MainWindow::follow_document);
    connect(&workspace_, &Workspace::problemsChanged, this, &MainWindow::follow_problems);
    connect(&workspace_, &Workspace::baselineRefused, this, &MainWindow::tell);
    connect(scenario_, &ScenarioPanel::let_go, this, &MainWindow::follow_problems);
    follow_document();
    restore();
}

MainWindow::~MainWindow()
{
    // Views end before what they show.
    qDeleteAll(findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
}

void MainWindow::make_status()
{
    progress_ = new ProgressStrip;
    statusBar()->addPermanentWidget(progress_);
    problems_button_ = new ProblemsButton;
    statusBar()->addPermanentWidget(problems_button_);
    connect(problems_button_, &QToolButton::clicked, this, &MainWindow::toggle_problems);
    connect(problems_, &ProblemsView::counted, this, [this] {
        problems_button_->set_counts(problems_->count_of(Severity::error),
                                     problems_->count_of(Severity::warning));
    });
    connect(progress_, &ProgressStrip::cancelled, this, &MainWindow::cancel);
    LiveRun& live = workspace_.live();
    const auto done = [this, &live] {
        if (!live.busy() && !opener_.busy())
            progress_->end();
        follow_busy();
    };
    connect(&opener_, &FileOpener::busyChanged, this, [this, done] {
        if (opener_.busy())
            progress_->begin(tr("reading"));
        open_traces();
        done();
    });
    connect(&opener_, &FileOpener::failed, this,
            [this](const QString& why) { attempt([&] { throw WorldError{why.toStdString()}; }); });
    connect(&live, &LiveRun::started, this, [this] {
        progress_->begin(tr("simulating"));
        follow_busy();
    });
    connect(&live, &LiveRun::progressed, progress_, &ProgressStrip::set);
    connect(&live, &LiveRun::finished, this, done);
    connect(&live, &LiveRun::stopped, this, done);
    for (const Panel* const one : panels_)
        connect(one, &Panel::busyChanged, this, &MainWindow::follow_busy);
}

// What can be cancelled; Escape is the views' own while nothing can.
void MainWindow::follow_busy()
{
    cancel_->setEnabled(busy());
}

void MainWindow::cancel()
{
    opener_.cancel();
    traces_.clear();
    workspace_.live().cancel();
    advice_->cancel();
    for (Panel* const one : panels_)
        if (one->busy())
            one->cancel();
    follow_busy();
}

bool MainWindow::busy() const
{
    return opener_.busy() || workspace_.live().busy() || advice_->finding() ||
           std::any_of(panels_.begin(), panels_.end(),
                       [](const Panel* panel) { return panel->busy(); });
}

bool MainWindow::attempt(const std::function<void()>& what)
{
    problems_->add({}); // what was tried before
    world_refused_ = false;
    try {
        what();
        return true;
    } catch (const WorldError& error) {
        world_refused_ = true;
        tell({{"", 0, "", error.message, "", Severity::error}});
        return false;
    }
}

void MainWindow::tell(const Problems& problems)
{
    refused_ = problems;
    problems_->add(problems);
    if (has_errors(problems))
        show_panel(QStringLiteral("problems"));
}

// The list opens by itself with the first error: what the user closes then stays closed. Nothing
// opens under the hand that drags a slider.
void MainWindow::follow_problems()
{
    const Document& document = workspace_.document();
    problems_->set_problems(workspace_.problems(), [&](const Diagnostic& problem) {
        return problem.file.empty() || problem.file == document.file()
                   ? value_words(document, problem.pointer)
                   : QString();
    });
    if (scenario_->dragging())
        return; // asked again when the hand lets go
    const bool before = std::exchange(wrong_, has_errors(workspace_.problems()));
    if (begun_ && wrong_ && !before)
        show_panel(QStringLiteral("problems"));
}

void MainWindow::toggle_problems()
{
    QDockWidget* const dock = docks_.at(QStringLiteral("problems"));
    if (dock->isVisible()) {
        dock->close();
        return;
    }
    show_panel(QStringLiteral("problems"));
    problems_->setFocus();
}

void MainWindow::restore()
{
    if (!places_.remember)
        return;
    const QSettings settings;
    if (const QString theme = settings.value(QStringLiteral("theme")).toString(); !theme.isEmpty())
        theme_ = theme == QStringLiteral("dark") ? Theme::dark : Theme::light;
    recent_ = settings.value(QStringLiteral("recent")).toStringList();
    start_->set_recent(recent_);
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    layout_ = settings.value(QStringLiteral("layout")).toByteArray();
}

void MainWindow::remember()
{
    if (!places_.remember)
        return;
    QSettings settings;
    settings.setValue(QStringLiteral("recent"), recent_);
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    if (arranged_)
        settings.setValue(QStringLiteral("layout"), saveState());
}

void MainWindow::ask_price()
{
    (new PriceDialog(workspace_, this))->open();
}

void MainWindow::show_table(const Panel& part)
{
    auto* const dialog = new TableDialog(part.title(), part.table(), this);
    dialog->show();
}

void MainWindow::set_theme(std::optional<Theme> theme)
{
    theme_ = theme;
    apply_theme(*qApp, theme.value_or(system_theme()));
    if (!places_.remember)
        return;
    QSettings settings;
    if (theme)
        settings.setValue(QStringLiteral("theme"),
                          *theme == Theme::dark ? QStringLiteral("dark") : QStringLiteral("light"));
    else
        settings.remove(QStringLiteral("theme"));
}

void MainWindow::follow_document()
{
    Document& document = workspace_.document();
    const bool any = document.json().is_object() && !document.json().members().empty();
    if (any && !begun_)
        begin();
    setWindowTitle(any ? tr("%1[*] - Trainyard").arg(document.title()) : tr("Trainyard"));
    setWindowModified(document.modified());
    if (any && !autosave_timer_->isActive()) // changes that never pause are kept too
        autosave_timer_->start();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!may_leave()) {
        event->ignore();
        return;
    }
    remember();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile())
            open_later(url.toLocalFile().toStdString());
    event->acceptProposedAction();
}

} // namespace trainyard::gui
