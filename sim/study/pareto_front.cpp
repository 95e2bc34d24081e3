#include "sim/study/pareto_front.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

template <>
std::vector<EnumName<Objective>> enum_names<Objective>()
{
    return {{Objective::days, "days"}, {Objective::cost, "cost"},
            {Objective::gpus, "gpus"}, {Objective::energy, "energy"},
            {Objective::work, "work"}, {Objective::headroom, "headroom"}};
}

namespace {

bool no_worse(const std::vector<double>& a, const std::vector<double>& b)
{
    return std::ranges::equal(a, b, std::ranges::less_equal());
}

} // namespace

std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& points)
{
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t i) -> const auto& { return points[i]; });
    // Whoever is no worse than a point stands before it, and one of the front is no worse than
    // that. Of two numbers it is the last: its second is the least so far.
    std::vector<std::size_t> front;
    for (const std::size_t i : order) {
        const bool two = points[i].size() <= 2;
        const auto first = two && !front.empty() ? std::prev(front.end()) : front.begin();
        if (std::none_of(first, front.end(),
                         [&](std::size_t other) { return no_worse(points[other], points[i]); }))
            front.push_back(i);
    }
    std::ranges::sort(front);
    return front;
}

} // namespace trainyard
