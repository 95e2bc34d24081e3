#include "gui/explore/marks.h"

#include "gui/explore/point_store.h"

#include <algorithm>

namespace trainyard::gui {

void Marks::mark(std::vector<std::uint32_t> points)
{
    std::erase(points, PointStore::guest); // is none of them
    if (points == points_)
        return;
    points_ = std::move(points);
    const auto last = std::ranges::max_element(points_);
    flags_.assign(last == points_.end() ? 0 : *last + std::size_t{1}, false);
    for (const std::uint32_t point : points_)
        flags_[point] = true;
    emit changed();
}

void Marks::set_current(std::optional<std::uint32_t> point)
{
    if (point == current_)
        return;
    current_ = point;
    emit currentChanged();
}

void Marks::clear()
{
    mark({});
    set_current(std::nullopt);
}

} // namespace trainyard::gui
