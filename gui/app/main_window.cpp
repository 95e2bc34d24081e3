#include "gui/app/main_window.h"

#include "gui/app/start_page.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/widgets/problems_view.h"
#include "gui/widgets/table_dialog.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QInputDialog>
#include <QLabel>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>

namespace trainyard::gui {

namespace {

constexpr int autosave_after_ms = 2000;
constexpr int busy_after_ms = 300;

} // namespace

MainWindow::MainWindow(Places places, QWidget* parent)
    : QMainWindow(parent),
      places_(std::move(places)),
      autosave_(places_.autosave),
      autosave_timer_(new QTimer(this)),
      busy_timer_(new QTimer(this))
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
    connect(&workspace_, &Workspace::problemsChanged, this,
            [this] { problems_->set_problems(workspace_.problems()); });
    follow_document();
    restore();
}

MainWindow::~MainWindow()
{
    // Views end before what they show.
    qDeleteAll(findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
}

void MainWindow::make_docks()
{
    auto* const headline = new QToolBar(tr("Headline"));
    headline->setObjectName(QStringLiteral("headline-bar"));
    headline->setMovable(false);
    headline->addWidget(new HeadlineBar(workspace_));
    addToolBar(Qt::TopToolBarArea, headline);

    start_ = new StartPage;
    connect(start_, &StartPage::chosen, this,
            [this](const QString& file) { open(file.toStdString()); });
    connect(start_, &StartPage::browse, this, &MainWindow::ask_open);
    setCentralWidget(start_);

    scenario_ = new ScenarioPanel(workspace_);
    add_panel(scenario_, Qt::LeftDockWidgetArea);
    add_panel(new TimelinePanel(workspace_), Qt::RightDockWidgetArea);

    problems_ = new ProblemsView;
    connect(problems_, &ProblemsView::chosen, this, [this](const std::string& pointer) {
        show_panel(scenario_->key());
        scenario_->go_to(pointer);
    });
    addDockWidget(Qt::BottomDockWidgetArea,
                  add_dock(problems_, QStringLiteral("problems"), tr("Problems")));
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
}

// Views of one area lie behind each other, the first in front.
void MainWindow::add_panel(Panel* panel, Qt::DockWidgetArea area)
{
    QDockWidget* const dock = add_dock(panel, panel->key(), panel->title());
    addDockWidget(area, dock);
    for (const Panel* const other : panels_)
        if (dockWidgetArea(docks_.at(other->key())) == area)
            tabifyDockWidget(docks_.at(other->key()), dock);
    panels_.push_back(panel);
    panel->set_in_sight(false);
    connect(dock, &QDockWidget::visibilityChanged, panel, &Panel::set_in_sight);
    connect(panel, &Panel::sightChanged, this, &MainWindow::follow_sight);
    for (Panel* const part : panel->parts())
        connect(part, &Panel::tableWanted, this, [this, part] { show_table(*part); });
}

// Ops are recorded only for views that show them.
void MainWindow::follow_sight()
{
    workspace_.want_ops(std::any_of(panels_.begin(), panels_.end(), [](const Panel* panel) {
        return panel->wants_ops() && panel->in_sight();
    }));
}

QDockWidget* MainWindow::add_dock(QWidget* widget, const QString& key, const QString& title)
{
    auto* const dock = new QDockWidget(title, this);
    dock->setObjectName(key);
    dock->setWidget(widget);
    dock->hide(); // until there is a scenario
    docks_[key] = dock;
    return dock;
}

// The start page gives way to the views.
void MainWindow::begin()
{
    begun_ = true;
    start_->hide();
    if (!layout_.isEmpty() && restoreState(layout_))
        return;
    for (const auto& [key, dock] : docks_)
        dock->show();
    show_panel(QStringLiteral("timeline"));
    QTimer::singleShot(0, this, &MainWindow::arrange);
}

// Until the user says otherwise, and as far as the views' own least sizes allow.
void MainWindow::arrange()
{
    QDockWidget* const scenario = docks_.at(scenario_->key());
    QDockWidget* const timeline = docks_.at(QStringLiteral("timeline"));
    QDockWidget* const problems = docks_.at(QStringLiteral("problems"));
    resizeDocks({scenario, timeline}, {width() / 3, width() - width() / 3}, Qt::Horizontal);
    resizeDocks({timeline, problems}, {height() - 100, 100}, Qt::Vertical);
}

void MainWindow::make_status()
{
    stage_ = new QLabel;
    progress_ = new QProgressBar;
    progress_->setMaximumWidth(180);
    progress_->setTextVisible(false);
    cancel_ = new QToolButton;
    cancel_->setText(tr("Cancel"));
    for (QWidget* const widget : {static_cast<QWidget*>(stage_), static_cast<QWidget*>(progress_),
                                  static_cast<QWidget*>(cancel_)})
    {
        statusBar()->addPermanentWidget(widget);
        widget->hide();
    }
    connect(cancel_, &QToolButton::clicked, &workspace_.live(), &LiveRun::cancel);

    busy_timer_->setSingleShot(true);
    busy_timer_->setInterval(busy_after_ms);
    connect(busy_timer_, &QTimer::timeout, this, [this] {
        if (workspace_.live().busy())
            show_progress(tr("simulating"), 0, 0);
    });
    const auto done = [this] {
        if (workspace_.live().busy())
            return;
        busy_timer_->stop();
        for (QWidget* const widget :
             {static_cast<QWidget*>(stage_), static_cast<QWidget*>(progress_),
              static_cast<QWidget*>(cancel_)})
            widget->hide();
    };
    connect(&workspace_.live(), &LiveRun::started, this, [this] {
        if (!busy_timer_->isActive() && !progress_->isVisible())
            busy_timer_->start();
    });
    connect(&workspace_.live(), &LiveRun::progressed, this, &MainWindow::show_progress);
    connect(&workspace_.live(), &LiveRun::finished, this, done);
    connect(&workspace_.live(), &LiveRun::stopped, this, done);
}

void MainWindow::show_progress(const QString& stage, double done, double total)
{
    if (busy_timer_->isActive())
        return; // not yet worth telling
    stage_->setText(stage);
    progress_->setRange(0, total > 0 ? 1000 : 0);
    if (total > 0)
        progress_->setValue(static_cast<int>(1000 * done / total));
    stage_->show();
    progress_->show();
    cancel_->show();
}

void MainWindow::make_menus()
{
    QMenu* const file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&Open ..."), QKeySequence::Open, this, &MainWindow::ask_open);
    file->addAction(tr("&Save scenario"), QKeySequence::Save, this, &MainWindow::save_scenario);
    file->addAction(tr("Save scenario &as ..."), QKeySequence::SaveAs, this,
                    &MainWindow::save_scenario_as);
    file->addAction(tr("Save s&ession ..."), QKeySequence(tr("Ctrl+Alt+S")), this,
                    &MainWindow::ask_save_session);
    file->addSeparator();
    file->addAction(tr("&Export view ..."), QKeySequence(tr("Ctrl+E")), this,
                    &MainWindow::ask_export);
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);

    QMenu* const edit = menuBar()->addMenu(tr("&Edit"));
    QAction* const undo = workspace_.document().undo_stack().createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* const redo = workspace_.document().undo_stack().createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit->addAction(undo);
    edit->addAction(redo);

    QMenu* const run = menuBar()->addMenu(tr("&Run"));
    run->addAction(tr("&Pin as baseline"), QKeySequence(tr("Ctrl+B")), &workspace_,
                   &Workspace::pin_baseline);
    run->addAction(tr("&Forget the baseline"), QKeySequence(tr("Ctrl+Shift+B")), &workspace_,
                   &Workspace::clear_baseline);
    run->addAction(tr("&Cancel"), QKeySequence(Qt::Key_Escape), &workspace_.live(),
                   &LiveRun::cancel);
    run->addSeparator();
    run->addAction(tr("P&rice of a device ..."), this, &MainWindow::ask_price);

    QMenu* const view = menuBar()->addMenu(tr("&View"));
    for (const auto& [key, dock] : docks_)
        view->addAction(dock->toggleViewAction());
    view->addSeparator();
    view->addAction(tr("Show as &table"), QKeySequence(tr("Ctrl+T")), this,
                    [this] { show_table(*front_part()); });
    view->addSeparator();
    view->addAction(tr("&Light"), this, [this] { set_theme(Theme::light); });
    view->addAction(tr("&Dark"), this, [this] { set_theme(Theme::dark); });
}

bool MainWindow::busy() const
{
    return workspace_.live().busy() ||
           std::any_of(panels_.begin(), panels_.end(),
                       [](const Panel* panel) { return panel->busy(); });
}

bool MainWindow::attempt(const std::function<void()>& what)
{
    try {
        what();
        return true;
    } catch (const WorldError& error) {
        tell({{"", 0, "", error.message, "", Severity::error}});
        return false;
    }
}

void MainWindow::tell(const Problems& problems)
{
    if (problems.empty())
        return;
    refused_ = problems;
    problems_->add(problems);
    docks_.at(QStringLiteral("problems"))->show();
    docks_.at(QStringLiteral("problems"))->raise();
}

void MainWindow::restore()
{
    if (!places_.remember)
        return;
    const QSettings settings;
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
    if (begun_)
        settings.setValue(QStringLiteral("layout"), saveState());
}

Panel* MainWindow::front_panel() const
{
    for (Panel* const one : panels_)
        if (one->isAncestorOf(QApplication::focusWidget()))
            return one;
    for (auto one = panels_.rbegin(); one != panels_.rend(); ++one)
        if ((*one)->in_sight())
            return *one;
    return panels_.front();
}

Panel* MainWindow::front_part() const
{
    const std::vector<Panel*> parts = front_panel()->parts();
    for (Panel* const part : parts)
        if (part->isAncestorOf(QApplication::focusWidget()))
            return part;
    return parts.front();
}

void MainWindow::ask_price()
{
    bool given = false;
    const double price = QInputDialog::getDouble(
        this, tr("Price of a device"), tr("USD for an hour of one device (0: not known)"),
        workspace_.price().per_device_hour, 0, 1e6, 2, &given);
    if (given)
        workspace_.set_price({price, workspace_.price().currency});
}

void MainWindow::show_table(const Panel& part)
{
    auto* const dialog = new TableDialog(part.title(), part.table(), this);
    dialog->show();
}

void MainWindow::set_theme(Theme theme)
{
    apply_theme(*qApp, theme);
    if (places_.remember)
        QSettings().setValue(QStringLiteral("dark"), theme == Theme::dark);
}

void MainWindow::follow_document()
{
    Document& document = workspace_.document();
    const bool any = document.json().is_object() && !document.json().members().empty();
    if (any && !begun_)
        begin();
    setWindowTitle(any ? tr("%1[*] - Trainyard").arg(document.title()) : tr("Trainyard"));
    setWindowModified(document.modified());
    if (any)
        autosave_timer_->start();
}

Panel* MainWindow::panel(const QString& key) const
{
    const auto found = std::find_if(panels_.begin(), panels_.end(),
                                    [&](const Panel* one) { return one->key() == key; });
    return found == panels_.end() ? nullptr : *found;
}

void MainWindow::show_panel(const QString& key)
{
    const auto dock = docks_.find(key);
    if (dock == docks_.end())
        return;
    dock->second->show();
    dock->second->raise();
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
            open(url.toLocalFile().toStdString());
    event->acceptProposedAction();
}

} // namespace trainyard::gui
