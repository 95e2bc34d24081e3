#include "gui/breakdown/memory_columns.h"

#include <algorithm>
#include <limits>

namespace trainyard::gui {

namespace {

using Point = std::vector<HeldBytes>::const_iterator;

Point first_after(const MemoryCurve& curve, SimTime time)
{
    return std::ranges::upper_bound(curve.points, time, {}, &HeldBytes::time);
}

Point first_from(const MemoryCurve& curve, SimTime time)
{
    return std::ranges::lower_bound(curve.points, time, {}, &HeldBytes::time);
}

} // namespace

std::vector<HeldBytes> columns_of(const MemoryCurve& curve, SimTime from, SimTime to,
                                  std::size_t count)
{
    std::vector<HeldBytes> columns;
    if (curve.points.empty())
        return columns;
    const double width = static_cast<double>((to - from).value()) / static_cast<double>(count);
    const auto edge = [&](std::size_t column) {
        return column == count
                   ? to
                   : from + SimTime(static_cast<std::int64_t>(width * static_cast<double>(column)));
    };
    for (std::size_t column = 0; column < count; ++column) {
        // What is held on entering the column, and all that changes in it.
        const Point begin = first_from(curve, edge(column));
        const Point end =
            column + 1 == count ? first_after(curve, to) : first_from(curve, edge(column + 1));
        const HeldBytes* most = begin == curve.points.begin() ? nullptr : &*(begin - 1);
        for (Point point = begin; point < end; ++point)
            if (most == nullptr || point->bytes > most->bytes)
                most = &*point;
        columns.push_back(most == nullptr ? curve.points.front() : *most);
    }
    return columns;
}

std::vector<MemoryKind> stacking_order(const MemoryCurve& curve)
{
    KindBytes least{};
    KindBytes most{};
    least.fill(std::numeric_limits<std::int64_t>::max());
    for (const HeldBytes& point : curve.points)
        for (std::size_t k = 0; k < least.size(); ++k) {
            least[k] = std::min(least[k], point.kinds[k]);
            most[k] = std::max(most[k], point.kinds[k]);
        }
    std::vector<MemoryKind> kinds;
    for (std::size_t k = 0; k < most.size(); ++k)
        if (most[k] > 0 && on_device(static_cast<MemoryKind>(k)))
            kinds.push_back(static_cast<MemoryKind>(k));
    // As the kinds are named where they are held as long.
    std::ranges::stable_sort(kinds, [&](MemoryKind a, MemoryKind b) {
        return least[static_cast<std::size_t>(a)] > least[static_cast<std::size_t>(b)];
    });
    return kinds;
}

const HeldBytes* held_at(const MemoryCurve& curve, SimTime time)
{
    const Point after = first_after(curve, time);
    return after == curve.points.begin() ? nullptr : &*(after - 1);
}

} // namespace trainyard::gui
