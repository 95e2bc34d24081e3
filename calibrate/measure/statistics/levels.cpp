#include "calibrate/measure/statistics/levels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainyard {
namespace {

constexpr std::size_t least_values = 20;
constexpr double least_share_of_a_level = 0.15;
constexpr double least_step = 0.02;

// Of neighbouring values, sorted.
struct Level {
    double median = 0;
    double distances = 0; // sum of distances from the median
    double count = 0;
};

class SortedTimes {
public:
    explicit SortedTimes(std::span<const double> times) : values_(times.begin(), times.end())
    {
        std::sort(values_.begin(), values_.end());
        for (const double value : values_)
            sums_.push_back(sums_.back() + value);
    }

    Level level(std::size_t begin, std::size_t end) const
    {
        const std::size_t below = begin + (end - begin) / 2; // odd: the one in the middle adds 0
        const std::size_t above = end - (end - begin) / 2;
        return {(values_[below] + values_[above - 1]) / 2,
                (sums_[end] - sums_[above]) - (sums_[below] - sums_[begin]),
                static_cast<double>(end - begin)};
    }

private:
    std::vector<double> values_;
    std::vector<double> sums_{0}; // of the values before
};

double mean_distance(const Level& level)
{
    return level.distances / level.count;
}

} // namespace

bool has_levels(std::span<const double> times)
{
    const std::size_t n = times.size();
    if (n < least_values)
        return false;
    const SortedTimes sorted(times);
    const auto margin =
        1 + static_cast<std::size_t>(std::ceil(least_share_of_a_level * static_cast<double>(n)));
    Level low = sorted.level(0, margin);
    Level high = sorted.level(margin, n);
    for (std::size_t split = margin + 1; split + margin <= n; ++split) {
        const Level before = sorted.level(0, split);
        const Level after = sorted.level(split, n);
        if (before.distances + after.distances < low.distances + high.distances) {
            low = before;
            high = after;
        }
    }
    const double step = high.median - low.median;
    const double limit = 4.8 + 65 / static_cast<double>(n);
    return step > least_step * low.median &&
           step > limit * std::max(mean_distance(low), mean_distance(high));
}

} // namespace trainyard
