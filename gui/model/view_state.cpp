#include "gui/model/view_state.h"

#include <algorithm>
#include <utility>

namespace trainyard::gui {

namespace {

const SimTime shortest_in_sight(1000); // a nanosecond

}

TimeRange ViewState::cut(TimeRange range) const
{
    const SimTime length =
        std::clamp(range.length(), std::min(shortest_in_sight, whole_.length()), whole_.length());
    const SimTime from = std::clamp(range.from, whole_.from, whole_.to - length);
    return {from, from + length};
}

void ViewState::begin_run(TimeRange step)
{
    const auto carried = [from = step_, to = step](SimTime time) {
        const SimTime since = time - from.from;
        if (to.length() == from.length())
            return to.from + since;
        const double part = to_seconds(since) / to_seconds(from.length());
        return to.from + to_sim_time(to_seconds(to.length()) * part);
    };
    const auto carried_range = [&](TimeRange range) {
        return TimeRange{carried(range.from), carried(range.to)};
    };
    const TimeRange range = range_ == whole_ ? step : carried_range(range_);
    const SimTime cursor = cursor_ == whole_.from ? step.from : carried(cursor_);
    Selection selection = selection_;
    if (selection.range)
        selection.range = carried_range(*selection.range);
    step_ = whole_ = step;
    select(selection);
    settle(range, cursor);
}

void ViewState::set_whole(TimeRange whole)
{
    const bool all = range_ == whole_;
    const bool no_cursor = cursor_ == whole_.from;
    whole_ = whole;
    settle(all ? whole : range_, no_cursor ? whole.from : cursor_);
}

void ViewState::settle(TimeRange range, SimTime cursor)
{
    show(awaited_ ? *awaited_ : range);
    awaited_.reset();
    set_cursor(cursor);
    if (!awaited_selection_)
        return;
    Selection selection = *std::exchange(awaited_selection_, std::nullopt);
    awaited_record_ = std::exchange(selection.record, std::nullopt);
    if (selection.range)
        selection.range = cut(*selection.range);
    select(selection);
}

std::optional<std::size_t> ViewState::take_awaited_record()
{
    return std::exchange(awaited_record_, std::nullopt);
}

void ViewState::keep_within(std::size_t ranks, std::size_t links)
{
    Selection kept = selection_;
    if (kept.rank && kept.rank->value >= ranks)
        kept.rank.reset();
    if (kept.link && kept.link->value >= links)
        kept.link.reset();
    select(kept);
}

void ViewState::show(TimeRange range)
{
    const TimeRange next = cut(range);
    if (next == range_)
        return;
    range_ = next;
    emit rangeChanged();
}

void ViewState::select(const Selection& selection)
{
    if (selection == selection_)
        return;
    selection_ = selection;
    emit selectionChanged();
}

void ViewState::set_cursor(SimTime time)
{
    const SimTime next = std::clamp(time, whole_.from, whole_.to);
    if (next == cursor_)
        return;
    cursor_ = next;
    emit cursorChanged();
}

} // namespace trainyard::gui
