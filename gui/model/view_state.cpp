#include "gui/model/view_state.h"

#include <algorithm>

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

void ViewState::set_whole(TimeRange whole)
{
    const bool all = range_ == whole_;
    whole_ = whole;
    show(awaited_ ? *awaited_ : all ? whole : range_);
    awaited_.reset();
    set_cursor(cursor_);
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
