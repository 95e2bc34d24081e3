#include "gui/app/main_window.h"

#include "gui/app/start_page.h"
#include "gui/breakdown/breakdown_panel.h"
#include "gui/calibration/calibration_panel.h"
#include "gui/explore/explore_panel.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/topology/topology_panel.h"
#include "gui/widgets/dock_title.h"
#include "gui/widgets/problems_button.h"
#include "gui/widgets/problems_view.h"
#include "gui/widgets/progress_strip.h"
#include "gui/widgets/table_dialog.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QInputDialog>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>

namespace trainyard::gui {

namespace {

constexpr int autosave_after_ms = 2000;

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
    headline_ = new QToolBar(tr("Headline"));
    headline_->setObjectName(QStringLiteral("headline-bar"));
    headline_->setMovable(false);
    headline_->addWidget(new HeadlineBar(workspace_));
    addToolBar(Qt::TopToolBarArea, headline_);
    headline_->hide(); // until there is a scenario

    start_ = new StartPage;
    connect(start_, &StartPage::chosen, this,
            [this](const QString& file) { open_later(file.toStdString()); });
    connect(start_, &StartPage::browse, this, &MainWindow::ask_open);
    setCentralWidget(start_);

    scenario_ = new ScenarioPanel(workspace_);
    add_panel(scenario_, Qt::LeftDockWidgetArea);
    add_panel(new TimelinePanel(workspace_), Qt::RightDockWidgetArea);
    auto* const topology = new TopologyPanel(workspace_);
    add_panel(topology, Qt::RightDockWidgetArea);
    connect(topology, &TopologyPanel::told, this, &MainWindow::tell);
    explore_ = new ExplorePanel(workspace_);
    add_panel(explore_, Qt::RightDockWidgetArea);
    calibration_ = new CalibrationPanel(workspace_);
    add_panel(calibration_, Qt::RightDockWidgetArea);
    add_panel(new BreakdownPanel(workspace_), Qt::RightDockWidgetArea);
    connect(calibration_, &CalibrationPanel::told, this, &MainWindow::tell);
    connect(calibration_, &CalibrationPanel::opened, this, &MainWindow::show_measurements);

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
    auto* const head = new DockTitle(*dock, qobject_cast<Panel*>(widget));
    connect(head, &DockTitle::tableWanted, this, [this](const Panel* part) { show_table(*part); });
    connect(head, &DockTitle::exportWanted, this, [this](Panel* part) { ask_export(*part); });
    dock->setTitleBarWidget(head);
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
    headline_->show();
    if (!layout_.isEmpty()) {
        restore_layout(layout_);
        return;
    }
    for (const Panel* const one : panels_)
        docks_.at(one->key())->show();
    show_panel(QStringLiteral("timeline"));
    docks_.at(QStringLiteral("problems"))->setVisible(wrong_);
    QTimer::singleShot(0, this, &MainWindow::arrange);
}

// Problems are in sight where there are some, whatever was when the layout was kept.
void MainWindow::restore_layout(const QByteArray& layout)
{
    restoreState(layout);
    headline_->setVisible(begun_);
    docks_.at(QStringLiteral("problems"))->setVisible(problems_->count_of(Severity::error) > 0);
}

// Without a scenario the other views have nothing to show.
void MainWindow::show_measurements()
{
    start_->hide();
    show_panel(calibration_->key());
    add_recent(QString::fromStdString(
        std::filesystem::absolute(calibration_->calibration().files().back()).string()));
}

// Until the user says otherwise, and as far as the views' own least sizes allow.
void MainWindow::arrange()
{
    QDockWidget* const scenario = docks_.at(scenario_->key());
    QDockWidget* const timeline = docks_.at(QStringLiteral("timeline"));
    resizeDocks({scenario, timeline}, {width() / 3, width() - width() / 3}, Qt::Horizontal);
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
    workspace_.live().cancel();
    for (Panel* const one : panels_)
        if (one->busy())
            one->cancel();
    follow_busy();
}

bool MainWindow::busy() const
{
    return opener_.busy() || workspace_.live().busy() ||
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

// The list opens by itself with the first error: what the user closes then stays closed.
void MainWindow::follow_problems()
{
    problems_->set_problems(workspace_.problems());
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
            open_later(url.toLocalFile().toStdString());
    event->acceptProposedAction();
}

} // namespace trainyard::gui
