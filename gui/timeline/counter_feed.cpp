#include "gui/timeline/counter_feed.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

bool is_of_links(CounterKind kind)
{
    return kind == CounterKind::nvlink || kind == CounterKind::nic;
}

} // namespace

CounterFeed::CounterFeed(ViewState& view, QObject* parent) : QObject(parent), view_(view)
{
    connect(&view_, &ViewState::rangeChanged, this, &CounterFeed::follow);
    connect(&view_, &ViewState::selectionChanged, this, &CounterFeed::follow);
    for (BackgroundTask* const task : {&task_, &links_task_}) {
        connect(task, &BackgroundTask::busyChanged, this, &CounterFeed::busyChanged);
        // There is not enough memory for it: the lanes are shown without.
        connect(task, &BackgroundTask::failed, this, [this] { emit counted({}); });
    }
}

void CounterFeed::set_model(std::shared_ptr<const TimelineModel> model)
{
    task_.cancel();
    const bool same_run = model_ && model && !model_->runs.empty() && !model->runs.empty() &&
                          model_->runs.front()->outcome == model->runs.front()->outcome;
    if (!same_run) { // else in another order
        links_task_.cancel();
        links_.reset();
    }
    model_ = std::move(model);
    source_ = model_ ? std::make_shared<CounterSource>(model_) : nullptr;
    asked_.reset();
    if (!same_run)
        for (CounterSeries& series : last_)
            series.values.clear();
    if (model_ == nullptr)
        last_.clear();
    emit counted(last_);
    follow();
}

void CounterFeed::set_in_sight(bool in_sight)
{
    in_sight_ = in_sight;
    if (!in_sight) {
        links_task_.cancel();
        if (task_.cancel())
            asked_.reset();
    }
    follow();
}

void CounterFeed::show(CounterKind kind, bool shown)
{
    if (shown == shows(kind))
        return;
    if (shown)
        shown_.insert(kind);
    else
        shown_.erase(kind);
    follow();
}

void CounterFeed::follow()
{
    if (source_ == nullptr || !in_sight_)
        return;
    CounterRequest request;
    request.kinds.assign(shown_.begin(), shown_.end());
    request.range = view_.range();
    request.rank = view_.selection().rank;
    if (request != asked_) {
        asked_ = request;
        count();
    } else if (!task_.busy())
        sum_links();
}

void CounterFeed::count()
{
    task_.start([this, request = *asked_, source = source_,
                 links = links_](const WorkControl& work) -> BackgroundTask::Answer {
        return [this, whole = links != nullptr,
                series = source->series(request, links.get(), {work.cancel, {}})] {
            take(series, whole);
        };
    });
}

void CounterFeed::take(std::vector<CounterSeries> series, bool whole)
{
    if (!whole) // rows to come keep their places
        for (CounterSeries& row : last_)
            if (is_of_links(row.kind) && shows(row.kind)) {
                row.values.clear();
                series.push_back(row);
            }
    last_ = std::move(series);
    emit counted(last_);
    sum_links();
}

// Once per run, when all else is shown; what is looked at meanwhile does not begin it anew.
void CounterFeed::sum_links()
{
    const bool wanted = std::ranges::any_of(shown_, is_of_links);
    if (!wanted || links_ || links_task_.busy() || model_ == nullptr || model_->runs.empty())
        return;
    links_task_.start([this, outcome = model_->runs.front()->outcome](
                          const WorkControl& work) -> BackgroundTask::Answer {
        return
            [this, sums = std::make_shared<const LinkSums>(link_sums(outcome, {work.cancel, {}}))] {
                links_ = sums;
                ++link_sums_made_;
                count();
            };
    });
}

} // namespace trainyard::gui
