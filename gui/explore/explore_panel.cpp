#include "gui/explore/explore_panel.h"

#include "gui/explore/here.h"
#include "gui/explore/nothing_fits.h"
#include "gui/explore/ranges_view.h"
#include "gui/widgets/elided.h"
#include "sim/base/parallel.h"

#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>

namespace trainyard::gui {

namespace {

// A picture without a display shows what is found by then.
constexpr int picture_after_ms = 5000;

QString duration_text(double seconds)
{
    constexpr double minute = 60;
    if (seconds < 1)
        return ExplorePanel::tr("less than 1 s");
    if (seconds < 2 * minute)
        return ExplorePanel::tr("%1 s").arg(qRound(seconds));
    if (seconds < 2 * minute * minute)
        return ExplorePanel::tr("%1 min").arg(qRound(seconds / minute));
    return ExplorePanel::tr("%1 h").arg(qRound(seconds / minute / minute));
}

} // namespace

ExplorePanel::~ExplorePanel() = default;

const std::vector<AxisRange>& ExplorePanel::ranges() const
{
    return ranges_->ranges();
}

void ExplorePanel::set_ranges(std::vector<AxisRange> ranges)
{
    ranges_->set_ranges(std::move(ranges));
    follow_ranges();
}

bool ExplorePanel::busy() const
{
    return job_.running() || finding_facts() || file_task_.busy() || compare_->busy() ||
           importance_->busy() || parallel_->busy();
}

void ExplorePanel::cancel()
{
    job_.cancel();
    file_task_.cancel();
    compare_->cancel();
    cancel_facts();
}

void ExplorePanel::prepare_picture()
{
    picture_wanted_ = true;
    if (!facts_)
        find_facts();
    else if (plan_ && !swept_) {
        start();
        QTimer::singleShot(picture_after_ms, &job_, &SweepJob::cancel);
    }
}

// Whether the points are of the scenario that is open now.
void ExplorePanel::follow_origin()
{
    const Document& document = workspace_.document();
    stale_ = swept_ && at_first_point(document.json(), document.file(), swept_->grid,
                                      swept_->freed) != swept_from_;
    here_index_ = swept_ && !stale_ ? index_of(*swept_, document, cluster()) : std::nullopt;
}

void ExplorePanel::start()
{
    follow_ranges(); // of the scenario as it is now
    if (!plan_ || plan_->points == 0)
        return;
    file_task_.cancel();
    file_.clear();
    source_.clear();
    show_points_of(*plan_);
    job_.start(*swept_);
    tell_progress();
    show_page();
    emit busyChanged();
}

// Nothing is found of it yet.
void ExplorePanel::show_points_of(SweepPlan plan)
{
    swept_ = std::move(plan);
    swept_from_ = at_first_point(swept_->own->json, swept_->own->file, swept_->grid, swept_->freed);
    follow_origin();
    failure_.clear();
    store_.reset(swept_->grid);
    marks_.clear();
    here_.reset();
    rows_->set_here({});
    scatter_->chart().set_here({});
    parallel_->set_here({});
    say_below({});
    restart_views();
}

std::vector<Metric> ExplorePanel::shown_metrics() const
{
    const WorkUnit work = swept_->facts.layers > 0 ? WorkUnit::tokens : WorkUnit::samples;
    return metrics_of(swept_->grid, work, workspace_.price());
}

void ExplorePanel::restart_views()
{
    const std::vector<Metric> metrics = shown_metrics();
    rows_->restart(metrics);
    filter_->clear();
    rows_->set_shown(static_cast<Shown>(shown_->currentIndex()));
    scatter_->restart(metrics);
    parallel_->restart(metrics);
    importance_->restart(metrics);
    follow_colour();
    fit_columns();
    follow_pins();
}

void ExplorePanel::follow_price()
{
    if (!swept_)
        return;
    const std::vector<Metric> metrics = shown_metrics();
    rows_->set_metrics(metrics);
    rows_->set_filter(filter_->text());
    scatter_->restart(metrics);
    parallel_->restart(metrics);
    importance_->restart(metrics);
    fit_columns();
    follow_current();
}

void ExplorePanel::take_points(std::vector<FoundPoint> points)
{
    store_.add(std::move(points));
    rows_->follow();
    scatter_->chart().follow();
    parallel_->follow();
    importance_->follow();
    follow_here();
    tell_progress();
    if (store_.feasible_count() > 0)
        show_page();
}

void ExplorePanel::take_end(const QString& problem)
{
    failure_ = problem;
    const SweepProgress progress = job_.progress();
    if (progress.per_second > 0 && source_.isEmpty())
        seconds_per_point_ = 1 / progress.per_second;
    tell_progress();
    show_page();
    emit swept();
    emit busyChanged();
}

double ExplorePanel::seconds_per_point() const
{
    if (seconds_per_point_ > 0)
        return seconds_per_point_;
    constexpr double ms_per_s = 1000;
    return workspace_.run() ? workspace_.run()->wall_ms / ms_per_s / usable_threads() : 0;
}

// Before a sweep: what it would be.
void ExplorePanel::tell_plan()
{
    start_->setEnabled(plan_ && plan_->points > 0);
    if (job_.running())
        return;
    if (store_.size() > 0)
        tell_found();
    QString text = refusal_;
    if (plan_) {
        text = tr("%L1 points").arg(plan_->points);
        if (plan_->dropped() > 0)
            text += tr(" (%L1 more cannot be by their sizes)").arg(plan_->dropped());
        if (const double each = seconds_per_point(); each > 0 && plan_->points > 0)
            // Those that do not fit are refused before they run.
            text += each * static_cast<double>(plan_->points) < 1
                        ? tr("; takes less than a second")
                        : tr("; at most about %1")
                              .arg(duration_text(each * static_cast<double>(plan_->points)));
        text += left_out_;
    }
    start_->setToolTip(text);
    if (store_.size() == 0)
        set_state(text);
}

void ExplorePanel::tell_progress()
{
    const bool running = job_.running();
    pause_->setVisible(running && !job_.replaying());
    save_->setEnabled(!running && store_.size() > 0);
    pause_->setText(job_.paused() ? tr("Go on") : tr("Pause"));
    cancel_->setVisible(running);
    progress_->setVisible(running);
    start_->setText(store_.size() == 0 ? tr("Sweep") : tr("Sweep again"));
    start_->setVisible(!running);
    if (!running) {
        tell_plan();
        return;
    }
    const SweepProgress progress = job_.progress();
    progress_->setRange(0, 1000);
    progress_->setValue(
        static_cast<int>(1000 * progress.done / std::max<std::size_t>(1, progress.total)));
    QString text = tr("%L1 of %L2 points").arg(progress.done).arg(progress.total);
    if (job_.paused())
        text += tr("; paused");
    else if (progress.per_second > 0)
        text += tr("; %L1 points/s, %2 left")
                    .arg(progress.per_second, 0, 'g', 3)
                    .arg(duration_text(progress.seconds_left));
    if (stale())
        text += tr("; of an earlier scenario");
    set_state(text);
    count_->setText(tr("%L1 rows").arg(rows_->shown_count()));
}

void ExplorePanel::tell_found()
{
    QString text = counts_text(store_);
    QString part;
    if (swept_ && store_.size() < swept_->points) {
        part = tr("Part of the sweep: %L1 of %L2 points").arg(store_.size()).arg(swept_->points);
        text = tr("Ended early, %L1 were planned: ").arg(swept_->points) + text;
    }
    say_below(part);
    text = source_ + text;
    if (!opened_.isEmpty() && workspace_.document().json() == opened_as_)
        text = tr("Opened %1").arg(opened_);
    if (!failure_.isEmpty())
        text = failure_;
    if (stale())
        text = tr("Of an earlier scenario: sweep again. ") + text;
    else if (plan_ && swept_ && plan_->grid != swept_->grid)
        text = tr("Chosen now: %L1 points").arg(plan_->points) + left_out_ + tr(". Found: ") + text;
    if (!refusal_.isEmpty())
        text = tr("Cannot be swept: %1. Found: %2").arg(refusal_, text);
    set_state(text);
    count_->setText(tr("%L1 rows").arg(rows_->shown_count()));
}

void ExplorePanel::set_state(const QString& text)
{
    state_->set_text(text);
}

// The chart, or why there is none.
void ExplorePanel::show_page()
{
    const bool none = store_.size() > 0 && store_.feasible_count() == 0 && !job_.running();
    if (none)
        message_->setText(nothing_fits_text(store_, *swept_));
    else if (!refusal_.isEmpty() && store_.size() == 0)
        message_->setText(refusal_.toHtmlEscaped());
    else if (!facts_)
        message_->setText(tr("Open a scenario: its strategies can be swept here."));
    else if (plan_ && plan_->points == 0)
        message_->setText(tr("None of the %L1 combinations can be: tp × pp × cp must divide the "
                             "%L2 devices, and micro-batch × dp the global batch of %L3.")
                              .arg(plan_->grid.points())
                              .arg(facts_->devices)
                              .arg(facts_->global_batch));
    else
        message_->setText(tr("<p>Tick what is to vary, or take a preset, and press <b>Sweep</b>. "
                             "Points appear here as they are found.</p>"));
    page_->setCurrentIndex(!none && (store_.size() > 0 || job_.running()) ? 0 : 1);
}

void ExplorePanel::paint_to(QPainter& painter, const QSize& size)
{
    static_cast<Panel*>(pictures_->currentWidget())->paint_to(painter, size);
}

void ExplorePanel::say_below(const QString& note)
{
    scatter_->set_note(note);
    parallel_->set_note(note);
}

} // namespace trainyard::gui
