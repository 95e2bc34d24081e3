#include "gui/timeline/timeline_panel.h"

#include "gui/timeline/counter_feed.h"
#include "gui/timeline/overview_strip.h"
#include "gui/timeline/record_menu.h"
#include "gui/timeline/run_timeline.h"
#include "gui/timeline/slice_facts.h"
#include "gui/timeline/time_text.h"
#include "gui/timeline/timeline_search.h"
#include "gui/timeline/timeline_texts.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/plain_table.h"
#include "gui/widgets/progress_strip.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTextBrowser>
#include <QTimer>

namespace trainyard::gui {

namespace {

constexpr int rows_table_after_ms = 60;

} // namespace

TimelinePanel::TimelinePanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      canvas_(new TimelineCanvas(workspace.view())),
      overview_(new OverviewStrip(workspace.view())),
      counters_(new CounterFeed(workspace.view(), this)),
      progress_(new ProgressStrip),
      search_(new TimelineSearch(*canvas_)),
      table_timer_(new QTimer(this))
{
    auto* const layout = in_a_column(this, {}, {.spacing = 2});
    make_tools(layout);
    make_progress(layout);
    make_details();
    setFocusProxy(canvas_);

    auto* const below = new QSplitter(Qt::Horizontal);
    below->addWidget(details_);
    auto* const stretch = new QWidget;
    in_a_column(stretch, {range_, table_}, {.spacing = 1});
    below->addWidget(stretch);
    below->setStretchFactor(0, 2);
    below->setStretchFactor(1, 3);
    auto* const picture = new QWidget;
    in_a_column(picture, {overview_, {canvas_, 1}}, {.spacing = 0});
    auto* const all = new QSplitter(Qt::Vertical);
    all->addWidget(picture);
    all->addWidget(below);
    all->setStretchFactor(0, 1);
    all->setStretchFactor(1, 0);
    all->setSizes({600, 190});
    layout->addWidget(all, 1);

    follow_counters();
    connect(canvas_, &TimelineCanvas::pinnedChanged, this, &TimelinePanel::fill_details);
    connect(canvas_, &TimelineCanvas::orderChanged, this, &TimelinePanel::follow_run);
    connect(canvas_, &TimelineCanvas::laidOut, this, [this] {
        const QRect body = canvas_->body();
        overview_->set_span(body.left(), body.width());
    });
    table_timer_->setSingleShot(true);
    table_timer_->setInterval(rows_table_after_ms);
    connect(table_timer_, &QTimer::timeout, this, &TimelinePanel::fill_table);
    const auto later = [this] {
        if (in_sight())
            table_timer_->start();
    };
    connect(&workspace.view(), &ViewState::rangeChanged, this, later);
    connect(&workspace.view(), &ViewState::selectionChanged, this, later);
    connect(&workspace, &Workspace::recordedChanged, canvas_, &TimelineCanvas::expect_model);
    connect(&workspace, &Workspace::recordedChanged, this, &TimelinePanel::follow_run);
    connect(&workspace, &Workspace::baselineChanged, this, &TimelinePanel::follow_run);
    connect(this, &Panel::sightChanged, this, &TimelinePanel::follow_run);
    connect(this, &Panel::sightChanged, this, later);
    follow_run();
    fill_details();
}

void TimelinePanel::follow_counters()
{
    connect(counters_, &CounterFeed::counted, canvas_, &TimelineCanvas::set_counters);
    connect(counters_, &CounterFeed::busyChanged, this, &Panel::busyChanged);
    connect(this, &Panel::sightChanged, this, [this] { counters_->set_in_sight(in_sight()); });
}

bool TimelinePanel::busy() const
{
    return task_.busy() || (counts_for_picture_ && counters_->busy());
}

void TimelinePanel::make_progress(QBoxLayout* layout)
{
    layout->addWidget(progress_);
    connect(progress_, &ProgressStrip::cancelled, this, &TimelinePanel::cancel);
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&task_, &BackgroundTask::progressed, progress_, &ProgressStrip::set);
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& message) {
        canvas_->set_message(message);
        take(nullptr);
    });
}

void TimelinePanel::cancel()
{
    counters_->cancel();
    if (!task_.cancel())
        return;
    run_.reset();
    canvas_->set_message(tr("Cancelled. Run > Simulate again (F5) shows the operations."));
    take(nullptr);
}

std::vector<KeyHelp> TimelinePanel::key_help() const
{
    return timeline_keys();
}

void TimelinePanel::make_details()
{
    details_ = new QTextBrowser;
    details_->setOpenLinks(false);
    details_->setAccessibleName(tr("Details of the operation"));
    connect(details_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        const std::uint32_t slice = link.path().toUInt();
        if (canvas_->model() && slice < canvas_->model()->data.slices.size())
            canvas_->go_to(slice);
    });
    range_ = new QLabel;
    range_->setContentsMargins(4, 2, 4, 0);
    range_->setWordWrap(true);
    range_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    entries_ = new RangeTable(this);
    sorted_ = new QSortFilterProxyModel(this);
    sorted_->setSourceModel(entries_);
    sorted_->setSortRole(RangeTable::sort_role);
    table_ = plain_table(tr("Operations in the stretch of time"));
    table_->setModel(sorted_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(3, Qt::DescendingOrder);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setStretchLastSection(true);
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
        const auto row = static_cast<std::size_t>(sorted_->mapToSource(index).row());
        canvas_->go_to(entries_->entries()[row].example);
    });
}

// Only while it is looked at; what was shown last stays until then.
void TimelinePanel::follow_run()
{
    compare_->setEnabled(workspace_.baseline() != nullptr);
    const std::shared_ptr<const RunView>& run = workspace_.recorded();
    if (run == nullptr || !run->recorded) {
        canvas_->set_message(tr("The operations of a step are shown here as soon as the scenario "
                                "has been simulated."));
        take(nullptr);
        return;
    }
    const bool beside = compare_->isChecked() && workspace_.baseline() != nullptr;
    const std::shared_ptr<const RunView> baseline = beside ? workspace_.baseline() : nullptr;
    if (!in_sight() || (run == run_ && baseline == baseline_ && order_ == canvas_->order()))
        return;
    run_ = run;
    order_ = canvas_->order();
    baseline_ = baseline;
    if (canvas_->model() == nullptr)
        canvas_->set_message(
            tr("Laying out %L1 operations ...").arg(run->outcome->result->records.size()));
    progress_->begin(tr("making the timeline"));
    task_.start([this, run, baseline, order = order_, &session = workspace_.live().session()](
                    const WorkControl& work) -> BackgroundTask::Answer {
        return [this, model = timeline_of(*run, baseline.get(), order, session, work)] {
            take(model);
        };
    });
}

void TimelinePanel::take(const std::shared_ptr<const TimelineModel>& model)
{
    progress_->end();
    canvas_->set_model(model);
    overview_->set_model(canvas_->model());
    counters_->set_model(canvas_->model());
    recorded_->tell(canvas_->model().get());
    recorded_->set_choice(workspace_.lanes());
    search_->search();
    fill_table();
}

void TimelinePanel::fill_details()
{
    if (canvas_->pinned() == nothing)
        details_->setHtml(timeline_help());
    else
        details_->setHtml(details_html(facts_of(*canvas_->model(), canvas_->pinned())));
}

std::vector<RangeEntry> TimelinePanel::entries() const
{
    if (canvas_->model() == nullptr)
        return {};
    const auto& selected = workspace_.view().selection().range;
    return entries_in(canvas_->model()->data, selected.value_or(workspace_.view().range()),
                      canvas_->rows_in_sight());
}

void TimelinePanel::fill_table()
{
    table_timer_->stop();
    entries_->set_entries(canvas_->model(), entries());
    const auto& selected = workspace_.view().selection().range;
    const TimeRange range = selected.value_or(workspace_.view().range());
    if (canvas_->model() == nullptr) {
        range_->clear();
        return;
    }
    QString text =
        tr("%1: %2, beginning %3")
            .arg(selected ? tr("Selected stretch") : tr("Stretch in sight"),
                 QString::fromStdString(time_text(range.length())),
                 QString::fromStdString(moment_text(range.from - canvas_->model()->data.origin)));
    if (canvas_->model()->runs.size() > 1)
        text += tr(". A: this run, B: the baseline");
    range_->setText(text);
}

void TimelinePanel::paint_to(QPainter& painter, const QSize& size)
{
    canvas_->paint_to(painter, size);
}

TableData TimelinePanel::table() const
{
    RangeTable now;
    now.set_entries(canvas_->model(), entries());
    return now.table();
}

} // namespace trainyard::gui
