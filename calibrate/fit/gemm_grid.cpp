#include "calibrate/fit/gemm_grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {
namespace {

using Sides = std::array<std::int64_t, 3>;

// Seconds by shape, ascending.
using TimesBySides = std::map<Sides, double>;

TimesBySides means_of(const std::vector<GemmPoint>& measured)
{
    struct Sum {
        double logarithms = 0;
        int count = 0;
    };
    std::map<Sides, Sum> sums;
    for (const GemmPoint& point : measured) {
        Sum& sum = sums[{point.m, point.n, point.k}];
        sum.logarithms += std::log(point.time.value());
        ++sum.count;
    }
    TimesBySides out;
    for (const auto& [sides, sum] : sums)
        out[sides] =
            sum.count == 1 ? std::exp(sum.logarithms) : std::exp(sum.logarithms / sum.count);
    return out;
}

class Grid {
public:
    explicit Grid(TimesBySides measured) : times_(std::move(measured))
    {
        std::array<std::set<std::int64_t>, 3> seen;
        for (const auto& [sides, time] : times_)
            for (std::size_t axis = 0; axis < 3; ++axis)
                seen[axis].insert(sides[axis]);
        for (std::size_t axis = 0; axis < 3; ++axis)
            axes_[axis].assign(seen[axis].begin(), seen[axis].end());
    }

    std::size_t size() const { return axes_[0].size() * axes_[1].size() * axes_[2].size(); }
    const TimesBySides& times() const { return times_; }

    // Neighbours are filled before they are needed: smaller shapes come first, then larger ones.
    void fill()
    {
        std::vector<Sides> all;
        for (const std::int64_t m : axes_[0])
            for (const std::int64_t n : axes_[1])
                for (const std::int64_t k : axes_[2])
                    all.push_back({m, n, k});
        for (const Sides& sides : all)
            if (const double time = at_rate_of_next(sides, -1); time > 0)
                times_.emplace(sides, time);
        std::reverse(all.begin(), all.end());
        for (const Sides& sides : all)
            if (const double time = at_rate_of_next(sides, +1); time > 0)
                times_.emplace(sides, time);
    }

    // Between the running maximum from below and the running minimum from above.
    void straighten()
    {
        TimesBySides inside = times_;
        for (auto& [sides, time] : inside)
            for (std::size_t axis = 0; axis < 3; ++axis)
                if (const auto next = neighbour(sides, axis, -1))
                    time = std::max(time, inside.at(*next));
        TimesBySides around = times_;
        for (auto it = around.rbegin(); it != around.rend(); ++it)
            for (std::size_t axis = 0; axis < 3; ++axis)
                if (const auto next = neighbour(it->first, axis, +1))
                    it->second = std::min(it->second, around.at(*next));
        for (auto& [sides, time] : times_)
            if (inside.at(sides) != around.at(sides))
                time = std::sqrt(inside.at(sides) * around.at(sides));
    }

private:
    std::optional<Sides> neighbour(Sides sides, std::size_t axis, int step) const
    {
        const std::vector<std::int64_t>& axis_sides = axes_[axis];
        const auto here = std::lower_bound(axis_sides.begin(), axis_sides.end(), sides[axis]);
        const auto index = here - axis_sides.begin() + step;
        if (index < 0 || index >= static_cast<std::ptrdiff_t>(axis_sides.size()))
            return std::nullopt;
        sides[axis] = axis_sides[static_cast<std::size_t>(index)];
        return sides;
    }

    // The slowest of what the neighbours' rates give; 0 without neighbours.
    double at_rate_of_next(const Sides& sides, int step) const
    {
        double out = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (const auto next = neighbour(sides, axis, step))
                if (const auto known = times_.find(*next); known != times_.end())
                    out = std::max(out, known->second * static_cast<double>(sides[axis]) /
                                            static_cast<double>((*next)[axis]));
        return out;
    }

    std::array<std::vector<std::int64_t>, 3> axes_;
    TimesBySides times_;
};

} // namespace

std::optional<GemmGrid> gemm_grid(const std::vector<GemmPoint>& measured)
{
    const TimesBySides means = means_of(measured);
    Grid grid(means);
    if (means.empty() || grid.size() > 2 * means.size())
        return std::nullopt;
    grid.fill();
    grid.straighten();
    GemmGrid out;
    std::vector<GemmPoint> points;
    for (const auto& [sides, time] : grid.times()) {
        points.push_back({sides[0], sides[1], sides[2], Seconds(time)});
        const auto known = means.find(sides);
        if (known == means.end())
            ++out.estimated;
        else
            out.most_moved = std::max(out.most_moved, std::abs(time / known->second - 1));
    }
    out.surface = GemmSurface(std::move(points));
    return out;
}

} // namespace trainyard
