#include "gui/explore/pareto.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

// As a cost: the lower the better.
double cost(double value, Better better)
{
    return better == Better::higher ? -value : value;
}

} // namespace

bool ParetoFront::add(const FrontPoint& point)
{
    if (!drawn() || std::isnan(point.x) || std::isnan(point.y))
        return false;
    const auto x = [&](const FrontPoint& one) { return cost(one.x, x_); };
    const auto y = [&](const FrontPoint& one) { return cost(one.y, y_); };
    // Costs of x rise along the front, those of y fall.
    const auto after =
        std::upper_bound(points_.begin(), points_.end(), point,
                         [&](const FrontPoint& a, const FrontPoint& b) { return x(a) < x(b); });
    if (after != points_.begin() && y(*(after - 1)) <= y(point))
        return false;
    auto first = after;
    if (first != points_.begin() && x(*(first - 1)) == x(point))
        --first;
    auto last = after;
    while (last != points_.end() && y(*last) >= y(point))
        ++last;
    points_.insert(points_.erase(first, last), point);
    return true;
}

} // namespace trainyard::gui
