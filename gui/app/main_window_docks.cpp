// The window's views: their docks, which is in front, how they lie at first.

#include "gui/app/main_window.h"
#include "gui/app/start_page.h"
#include "gui/breakdown/breakdown_panel.h"
#include "gui/calibration/calibration_panel.h"
#include "gui/explore/explore_panel.h"
#include "gui/new/origin_view.h"
#include "gui/plan/plan_panel.h"
#include "gui/recorded/recorded_panel.h"
#include "gui/report/report_panel.h"
#include "gui/scenario/advice_line.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/topology/topology_panel.h"
#include "gui/widgets/dock_title.h"
#include "gui/widgets/problems_view.h"

#include <QApplication>
#include <QDockWidget>
#include <QTimer>
#include <QToolBar>
#include <algorithm>

namespace trainyard::gui {

void MainWindow::make_docks()
{
    headline_ = new QToolBar(tr("Headline"));
    headline_->setObjectName(QStringLiteral("headline-bar"));
    headline_->setMovable(false);
    auto* const bar = new HeadlineBar(workspace_);
    connect(bar, &HeadlineBar::view_wanted, this, &MainWindow::show_part);
    advice_ = &bar->advice();
    connect(advice_, &AdviceLine::findingChanged, this, &MainWindow::follow_busy);
    headline_->addWidget(bar);
    addToolBar(Qt::TopToolBarArea, headline_);
    headline_->hide(); // until there is a scenario

    start_ = new StartPage;
    connect(start_, &StartPage::chosen, this,
            [this](const QString& file) { open_later(file.toStdString()); });
    connect(start_, &StartPage::browse, this, &MainWindow::ask_open);
    connect(start_, &StartPage::new_wanted, this, &MainWindow::show_new);
    connect(start_, &StartPage::plan_wanted, this, &MainWindow::begin_plan);
    connect(start_, &StartPage::model_chosen, this, &MainWindow::show_new_with);
    connect(start_, &StartPage::calibration_wanted, this, [this] {
        start_->hide();
        show_panel(calibration_->key());
    });
    setCentralWidget(start_);

    scenario_ = new ScenarioPanel(workspace_);
    add_panel(scenario_, Qt::LeftDockWidgetArea);
    timeline_ = new TimelinePanel(workspace_);
    add_panel(timeline_, Qt::RightDockWidgetArea);
    auto* const topology = new TopologyPanel(workspace_);
    add_panel(topology, Qt::RightDockWidgetArea);
    connect(topology, &TopologyPanel::told, this, &MainWindow::tell);
    connect(topology, &TopologyPanel::clusterWanted, this, &MainWindow::edit_cluster);
    explore_ = new ExplorePanel(workspace_);
    add_panel(explore_, Qt::RightDockWidgetArea);
    connect(explore_, &ExplorePanel::told, this, &MainWindow::tell);
    plan_ = new PlanPanel(workspace_);
    add_panel(plan_, Qt::RightDockWidgetArea);
    connect(plan_, &PlanPanel::told, this, &MainWindow::tell);
    connect(plan_, &PlanPanel::compareWanted, &explore_->compare(), &ComparePanel::toggle);
    calibration_ = new CalibrationPanel(workspace_);
    add_panel(calibration_, Qt::RightDockWidgetArea);
    add_panel(new BreakdownPanel(workspace_), Qt::RightDockWidgetArea);
    recorded_ = new RecordedPanel(workspace_);
    add_panel(recorded_, Qt::RightDockWidgetArea);
    add_panel(new ReportPanel(workspace_), Qt::RightDockWidgetArea);
    connect(recorded_, &RecordedPanel::told, this, &MainWindow::tell);
    connect(recorded_, &RecordedPanel::opened, this, &MainWindow::show_recorded);
    connect(recorded_, &RecordedPanel::wanted, this, [this](const QStringList& files) {
        for (const QString& file : files)
            open_later(file.toStdString());
    });
    connect(calibration_, &CalibrationPanel::told, this, &MainWindow::tell);
    connect(calibration_, &CalibrationPanel::opened, this, &MainWindow::show_measurements);
    connect(&calibration_->form(), &MeasureForm::begun, start_, &QWidget::hide);

    problems_ = new ProblemsView;
    connect(problems_, &ProblemsView::chosen, this, [this](const std::string& pointer) {
        show_panel(scenario_->key());
        scenario_->go_to(pointer);
    });
    addDockWidget(Qt::BottomDockWidgetArea,
                  add_dock(problems_, QStringLiteral("problems"), tr("Problems")));
    origin_ = new OriginView;
    connect(origin_, &OriginView::chosen, this, [this](const std::string& pointer) {
        show_panel(scenario_->key());
        scenario_->go_to(pointer);
    });
    connect(origin_, &OriginView::againWanted, this,
            [this](const ImportQuestion& job) { opener_.import_again(job); });
    QDockWidget* const origin = add_dock(origin_, QStringLiteral("origin"), tr("Origin"));
    addDockWidget(Qt::BottomDockWidgetArea, origin);
    tabifyDockWidget(docks_.at(QStringLiteral("problems")), origin);
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
    reset_layout();
}

// As at the first start: every view in its place, the timeline in front.
void MainWindow::reset_layout()
{
    if (!begun_)
        return; // there is only the start page
    std::map<Qt::DockWidgetArea, QDockWidget*> first;
    for (const Panel* const one : panels_) {
        QDockWidget* const dock = docks_.at(one->key());
        const Qt::DockWidgetArea area =
            one == scenario_ ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea;
        dock->setFloating(false);
        addDockWidget(area, dock);
        if (const auto [place, alone] = first.try_emplace(area, dock); !alone)
            tabifyDockWidget(place->second, dock);
        dock->show();
    }
    QDockWidget* const problems = docks_.at(QStringLiteral("problems"));
    QDockWidget* const origin = docks_.at(QStringLiteral("origin"));
    for (QDockWidget* const dock : {problems, origin}) {
        const bool shown = !dock->isHidden();
        dock->setFloating(false);
        addDockWidget(Qt::BottomDockWidgetArea, dock);
        dock->setVisible(shown); // it would be shown where it is added
    }
    tabifyDockWidget(problems, origin);
    problems->setVisible(wrong_);
    show_panel(QStringLiteral("timeline"));
    QTimer::singleShot(0, this, &MainWindow::arrange);
}

// Problems are in sight where there are some, whatever was when the layout was kept.
void MainWindow::restore_layout(const QByteArray& layout)
{
    restoreState(layout);
    arranged_ = true;
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

void MainWindow::show_recorded()
{
    start_->hide();
    show_panel(recorded_->key());
}

// Until the user says otherwise, and as far as the views' own least sizes allow.
void MainWindow::arrange()
{
    QDockWidget* const scenario = docks_.at(scenario_->key());
    QDockWidget* const timeline = docks_.at(QStringLiteral("timeline"));
    resizeDocks({scenario, timeline}, {width() / 3, width() - width() / 3}, Qt::Horizontal);
    arranged_ = true;
}

Panel* MainWindow::front_panel() const
{
    for (Panel* const one : panels_)
        if (one->in_sight() && one->isAncestorOf(QApplication::focusWidget()))
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

Panel* MainWindow::panel(const QString& key) const
{
    const auto found = std::find_if(panels_.begin(), panels_.end(),
                                    [&](const Panel* one) { return one->key() == key; });
    return found == panels_.end() ? nullptr : *found;
}

void MainWindow::show_part(const QString& view, const QString& part)
{
    if (view.isEmpty()) {
        ask_price();
        return;
    }
    show_panel(view);
    if (Panel* const one = panel(view))
        one->show_part(part);
}

void MainWindow::show_panel(const QString& key)
{
    const auto dock = docks_.find(key);
    if (dock == docks_.end()) {
        for (Panel* const panel : panels_)
            for (const Panel* const part : panel->parts())
                if (part->key() == key)
                    show_part(panel->key(), key);
        return;
    }
    dock->second->show();
    dock->second->raise();
}

} // namespace trainyard::gui
