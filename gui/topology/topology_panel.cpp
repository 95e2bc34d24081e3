#include "gui/topology/topology_panel.h"

#include "gui/topology/link_facts.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/flat_button.h"
#include "gui/widgets/progress_strip.h"
#include "sim/base/units.h"

#include <QComboBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <set>

namespace trainyard::gui {

namespace {

constexpr int links_table_after_ms = 80;
constexpr int table_while_playing_ms = 400; // people read no faster

} // namespace

TopologyPanel::TopologyPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      canvas_(new TopologyCanvas(workspace.view())),
      scrubber_(new Scrubber(workspace.view())),
      pane_(new LinkPane(workspace.view())),
      progress_(new ProgressStrip),
      table_timer_(new QTimer(this))
{
    auto* const layout = in_a_column(this, {}, {.spacing = 2});
    make_tools(layout);
    layout->addWidget(progress_);
    setFocusProxy(canvas_);
    auto* const above = new QWidget;
    in_a_column(above, {{canvas_, 1}, scrubber_}, {.spacing = 0});
    auto* const all = new QSplitter(Qt::Vertical);
    all->addWidget(above);
    all->addWidget(pane_);
    all->setStretchFactor(0, 1);
    all->setStretchFactor(1, 0);
    all->setSizes({600, 200});
    layout->addWidget(all, 1);

    table_timer_->setSingleShot(true);
    connect(table_timer_, &QTimer::timeout, this, &TopologyPanel::follow_time);
    connect(canvas_, &TopologyCanvas::timeChanged, this, [this] {
        if (!scrubber_->playing())
            table_timer_->start(links_table_after_ms);
        else if (!table_timer_->isActive())
            table_timer_->start(table_while_playing_ms);
    });
    connect(canvas_, &TopologyCanvas::runShown, this, &TopologyPanel::follow_shown);
    connect(canvas_, &TopologyCanvas::busyChanged, this, &Panel::busyChanged);
    connect(canvas_, &TopologyCanvas::selectionChanged, this, &TopologyPanel::follow_selection);
    connect(canvas_, &TopologyCanvas::placeChanged, this, &TopologyPanel::follow_selection);
    connect(canvas_, &TopologyCanvas::playWanted, scrubber_, &Scrubber::togglePlay);
    connect(canvas_, &TopologyCanvas::editWanted, this, &TopologyPanel::edit);
    connect(canvas_, &TopologyCanvas::menuWanted, this, &TopologyPanel::show_menu);
    connect(pane_, &LinkPane::editWanted, this, &TopologyPanel::edit);
    connect(pane_, &LinkPane::linkWanted, canvas_, &TopologyCanvas::go_to);
    connect(progress_, &ProgressStrip::cancelled, this, &TopologyPanel::cancel);
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&task_, &BackgroundTask::progressed, progress_, &ProgressStrip::set);
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& message) {
        canvas_->set_message(message);
        take(nullptr);
    });
    connect(&workspace, &Workspace::recordedChanged, this, &TopologyPanel::follow_run);
    connect(this, &Panel::sightChanged, this, &TopologyPanel::follow_run);
    connect(this, &Panel::sightChanged, this, [this] {
        canvas_->set_following(in_sight());
        want_all();
    });
    follow_run();
}

void TopologyPanel::make_tools(QBoxLayout* layout)
{
    tint_ = new QComboBox;
    tint_->addItem(tr("colour: mean of the links"));
    tint_->addItem(tr("colour: busiest link"));
    tint_->setAccessibleName(tr("What colours a line that stands for several links"));
    tint_->setToolTip(tint_->accessibleName());
    search_ = new QLineEdit;
    search_->setPlaceholderText(tr("Find a device or link (Ctrl+F)"));
    search_->setAccessibleName(tr("Find a device or link"));
    search_->setClearButtonEnabled(true);
    search_->setFixedWidth(fontMetrics().horizontalAdvance(search_->placeholderText()) + 50);
    matched_ = new QLabel;
    note_ = new ElidedLabel;
    auto* const cluster =
        flat_button(tr("Cluster ..."), tr("Describe another cluster for the scenario (Ctrl+K)"));
    auto* const open = flat_button(tr("Unfold"), tr("Show as many single things as can be drawn"));
    auto* const close = flat_button(tr("Fold"), tr("Show pods, racks and nodes only"));
    auto* const fit = flat_button(tr("Fit"), tr("All in sight (F)"));
    auto* const row =
        in_a_row({tint_, search_, matched_, {note_, 1}}, {.margins = {4, 2, 4, 0}, .spacing = 2});
    for (QWidget* const widget : {cluster, open, close, fit})
        row->addWidget(widget);
    layout->addLayout(row);
    connect(tint_, &QComboBox::currentIndexChanged, this,
            [this](int index) { canvas_->set_tint(index == 0 ? Tint::mean : Tint::worst); });
    connect(cluster, &QToolButton::clicked, this, &TopologyPanel::clusterWanted);
    connect(search_, &QLineEdit::returnPressed, this, &TopologyPanel::search);
    connect(search_, &QLineEdit::textChanged, matched_, &QLabel::clear);
    auto* const back =
        new QShortcut(Qt::SHIFT | Qt::Key_Return, search_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(back, &QShortcut::activated, this, [this] { show_match(-1); });
    auto* const leave =
        new QShortcut(Qt::Key_Escape, search_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(leave, &QShortcut::activated, this, [this] {
        search_->clear();
        canvas_->setFocus();
    });
    connect(canvas_, &TopologyCanvas::searchWanted, this, [this] {
        search_->setFocus(Qt::ShortcutFocusReason);
        search_->selectAll();
    });
    connect(open, &QToolButton::clicked, canvas_, &TopologyCanvas::openAll);
    connect(close, &QToolButton::clicked, canvas_, &TopologyCanvas::closeAll);
    connect(fit, &QToolButton::clicked, canvas_, &TopologyCanvas::fitAll);
}

// While the times of few ranks would stand for those of others in sight, and the job is small
// enough to know all.
void TopologyPanel::want_all()
{
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    if (!in_sight() || !run)
        workspace_.want_all_lanes(false);
    else if (run->loads->ranks_recorded() < run->outcome->job.world())
        workspace_.want_all_lanes(ops_in_step(run->outcome->plan->program, *run->outcome->binding,
                                              [](LaneId) { return true; }) <= most_chosen_ops);
}

void TopologyPanel::cancel()
{
    if (!task_.cancel())
        return;
    wanted_.reset();
    canvas_->set_message(tr("Cancelled. Run > Simulate again (F5) shows the links."));
    take(nullptr);
}

std::vector<KeyHelp> TopologyPanel::key_help() const
{
    return {
        {tr("arrow keys"), tr("neighbours")},
        {"[ ]", tr("links of the thing, one by one")},
        {tr("Ctrl+F"), tr("find a device or link; Return the next")},
        {tr("Return"), tr("unfold")},
        {tr("Backspace"), tr("fold what it is in")},
        {"+ -", tr("closer, further")},
        {"A D", tr("to the left, to the right")},
        {"F", tr("fit all")},
        {tr("Space"), tr("play, pause")},
        {"H", tr("halve the link's rate")},
        {"R", tr("another rate for the link")},
        {"B", tr("break the link")},
        {"M", tr("mend the link")},
        {tr("Esc"), tr("lets go: the link, then the moment")},
        {tr("wheel"), tr("zooms; Shift pans")},
    };
}

// Only while it is looked at; what was shown last stays until then.
void TopologyPanel::follow_run()
{
    const std::shared_ptr<const RunView>& run = workspace_.recorded();
    if (run == nullptr || !run->recorded) {
        canvas_->set_message(tr("The cluster and the load of its links are shown here as soon as "
                                "the scenario has been simulated: open a scenario."));
        take(nullptr);
        return;
    }
    if (!in_sight() || run == wanted_)
        return;
    wanted_ = run;
    if (canvas_->run() == nullptr)
        canvas_->set_message(tr("Laying out the cluster ..."));
    progress_->begin(tr("making the topology"));
    task_.start(
        [this, outcome = run->outcome, graph = canvas_->run() ? canvas_->run()->graph : nullptr](
            const WorkControl& work) -> BackgroundTask::Answer {
            return [this, made = std::make_shared<const TopologyRun>(outcome, graph, work)] {
                take(made);
            };
        });
}

void TopologyPanel::take(const std::shared_ptr<const TopologyRun>& run)
{
    progress_->end();
    canvas_->set_run(run);
}

// Another run is in sight, or none.
void TopologyPanel::follow_shown()
{
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    if (run)
        scrubber_->set_origin(step_of(*run->outcome).from);
    pane_->set_run(run);
    searched_.clear(); // of another cluster, maybe
    matches_ = {};
    follow_time();
    tell_coverage();
    want_all();
}

// What is only known in part says so.
void TopologyPanel::tell_coverage()
{
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    QString note;
    if (run) {
        const int counted = run->loads->ranks_counted();
        const int recorded = run->loads->ranks_recorded();
        const int world = run->outcome->job.world();
        if (counted < world)
            note = tr("transfers of %L1 of %L2 ranks were recorded: others' are not counted here")
                       .arg(counted)
                       .arg(world);
        else if (recorded < world)
            note = tr("%L1 of %L2 ranks were recorded: others' transfers are shown when a recorded "
                      "rank of the same role has them")
                       .arg(recorded)
                       .arg(world);
        if (on_host(run->outcome->job.strategy.backend) &&
            run->outcome->topology->device(DeviceId{0}).nvlink.value() > 0)
            note = tr("%1 goes through the hosts' memory: shown on the devices' usual ways")
                       .arg(QString::fromStdString(
                           std::string(title_of(run->outcome->job.strategy.backend))));
    }
    note_->set_text(note);
}

void TopologyPanel::follow_selection()
{
    const TopologyScene& scene = canvas_->scene();
    const bool place = canvas_->run() && scene.current;
    pane_->set_place(place ? tip_of_place(scene, canvas_->layout_of().item_of(*scene.current))
                           : QString());
    pane_->show_link(canvas_->run() ? scene.selected : std::nullopt);
}

void TopologyPanel::follow_time()
{
    table_timer_->stop();
    if (canvas_->picture())
        pane_->set_picture(canvas_->picture());
}

void TopologyPanel::change(const LinkChange& change, Reach reach)
{
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    if (!run || !canvas_->scene().selected)
        return;
    std::set<std::string> names;
    if (reach == Reach::link)
        names.insert(both_ways(run->name(*canvas_->scene().selected)));
    else
        for (const LinkId link : canvas_->selected_bundle())
            names.insert(both_ways(run->name(link)));
    const std::vector<std::string> links(names.begin(), names.end());
    Document& document = workspace_.document();
    Checked<Json> changed = with_links(document.json(), links, change);
    if (!changed) {
        refuse(changed.error());
        return;
    }
    refuse({}); // what was refused before
    const QString what = change.kind == LinkChange::Kind::cut    ? tr("break %1")
                         : change.kind == LinkChange::Kind::mend ? tr("mend %1")
                                                                 : tr("slow down %1");
    document.replace(std::move(*changed), what.arg(QString::fromStdString(links.front())));
}

// Beside the link shortly, among the problems with what to do; nothing clears both.
void TopologyPanel::refuse(const Problems& problems)
{
    pane_->say(problems.empty() ? QString() : QString::fromStdString(problems.front().message));
    emit told(problems);
}

void TopologyPanel::edit(QChar what)
{
    if (what == 'b')
        change({LinkChange::Kind::cut});
    else if (what == 'm')
        change({LinkChange::Kind::mend});
    else if (what == 'h')
        change({LinkChange::Kind::scale, 0.5});
    else
        ask_rate();
}

void TopologyPanel::ask_rate()
{
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    if (!run || !canvas_->scene().selected)
        return;
    const LinkId link = *canvas_->scene().selected;
    const Bandwidth built = run->graph->topology->link(link).capacity;
    bool given = false;
    const QString text = QInputDialog::getText(
        this, tr("Rate of a link"),
        tr("%1 was built for %2. What does it have? (\"25 GB/s\", \"200 Gb/s\")")
            .arg(QString::fromStdString(both_ways(run->name(link))),
                 QString::fromStdString(to_display(built))),
        QLineEdit::Normal, QString::fromStdString(to_display(Bandwidth(run->capacity[link.value]))),
        &given);
    if (!given)
        return;
    const Parsed<Bandwidth> rate = parse_bandwidth(text.trimmed().toStdString());
    if (rate)
        change({LinkChange::Kind::share, *rate / built});
    else
        refuse(
            {{"", 0, "/perturbations", rate.error().message, rate.error().hint, Severity::error}});
}

void TopologyPanel::show_menu(const QPoint& at)
{
    const std::shared_ptr<const TopologyRun> run = canvas_->run();
    if (!run || !canvas_->scene().selected)
        return;
    QMenu menu(this);
    const QString name = QString::fromStdString(both_ways(run->name(*canvas_->scene().selected)));
    menu.addAction(tr("Halve %1").arg(name), this, [this] { edit('h'); });
    menu.addAction(tr("Another rate for %1 ...").arg(name), this, [this] { edit('r'); });
    menu.addAction(tr("Break %1").arg(name), this, [this] { edit('b'); });
    menu.addAction(tr("Mend %1").arg(name), this, [this] { edit('m'); });
    constexpr std::size_t most = 256; // entries of a scenario that people still read
    const std::size_t beside = canvas_->selected_bundle().size();
    if (beside > 2 && beside <= most) {
        menu.addSeparator();
        menu.addAction(tr("Halve all %1 beside it").arg(beside), this, [this] {
            change({LinkChange::Kind::scale, 0.5}, Reach::bundle);
        });
        menu.addAction(tr("Break all %1 beside it").arg(beside), this,
                       [this] { change({LinkChange::Kind::cut}, Reach::bundle); });
        menu.addAction(tr("Mend all %1 beside it").arg(beside), this,
                       [this] { change({LinkChange::Kind::mend}, Reach::bundle); });
    }
    menu.exec(at);
}

void TopologyPanel::paint_to(QPainter& painter, const QSize& size)
{
    canvas_->paint_to(painter, size);
}

TableData TopologyPanel::table() const
{
    return canvas_->run() ? table_of(canvas_->scene()) : table_of(TopologyScene{});
}

} // namespace trainyard::gui
