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
    connect(&task_, &BackgroundTask::busyChanged, this, &CounterFeed::busyChanged);
    // There is not enough memory for it: the lanes are shown without.
    connect(&task_, &BackgroundTask::failed, this, [this] { emit counted({}); });
}

void CounterFeed::set_model(std::shared_ptr<const TimelineModel> model)
{
    task_.cancel();
    model_ = std::move(model);
    source_ = model_ ? std::make_shared<CounterSource>(model_) : nullptr;
    asked_.reset();
    links_known_ = false;
    for (CounterSeries& series : last_) // another run's
        series.values.clear();
    if (model_ == nullptr)
        last_.clear();
    emit counted(last_);
    follow();
}

void CounterFeed::set_in_sight(bool in_sight)
{
    in_sight_ = in_sight;
    if (!in_sight && task_.cancel())
        asked_.reset();
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
    emit shownChanged();
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
    if (request == asked_)
        return;
    asked_ = request;
    CounterRequest quick = request;
    std::erase_if(quick.kinds, is_of_links);
    count(links_known_ ? request : quick);
}

// Finding the ways of a large cluster's transfers takes seconds: once per model, when all else is
// shown.
void CounterFeed::count(const CounterRequest& request)
{
    task_.start(
        [this, request, source = source_](const WorkControl& work) -> BackgroundTask::Answer {
            return [this, request, series = source->series(request, {work.cancel, {}})] {
                take(request, series);
            };
        });
}

void CounterFeed::take(const CounterRequest& request, std::vector<CounterSeries> series)
{
    const bool all = request == asked_;
    if (!all) // rows to come keep their places
        for (CounterSeries& row : last_)
            if (is_of_links(row.kind) && shows(row.kind)) {
                row.values.clear();
                series.push_back(row);
            }
    links_known_ = links_known_ || std::ranges::any_of(request.kinds, is_of_links);
    last_ = std::move(series);
    emit counted(last_);
    if (!all)
        count(*asked_);
}

} // namespace trainyard::gui
