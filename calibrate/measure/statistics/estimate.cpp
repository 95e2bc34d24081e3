#include "calibrate/measure/statistics/estimate.h"

#include "calibrate/fit/order_statistics.h"
#include "calibrate/measure/statistics/drift.h"
#include "calibrate/measure/statistics/levels.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainyard {
namespace {

constexpr double outlier_distance = 6; // in MAD
constexpr double least_spread = 0.001; // of the median

int outliers_of(const std::vector<double>& times, double middle)
{
    std::vector<double> distances;
    for (const double time : times)
        distances.push_back(std::abs(time - middle));
    const double spread = std::max(median(std::move(distances)), least_spread * middle);
    return static_cast<int>(std::count_if(times.begin(), times.end(), [&](double time) {
        return time > middle + outlier_distance * spread;
    }));
}

} // namespace

Estimate estimate_of(std::span<const double> times)
{
    if (times.empty())
        return {};
    const std::vector<double> values(times.begin(), times.end());
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const Interval interval = interval_of_median(values).value_or(Interval{*least, *most});
    Estimate out;
    out.median = median(values);
    out.low = interval.low;
    out.high = interval.high;
    out.outliers = outliers_of(values, out.median);
    out.drift = drift_of(times);
    out.multimodal = has_levels(times);
    return out;
}

double half_width(const Estimate& estimate)
{
    const double width = (estimate.high - estimate.low) / 2;
    return width == 0 ? 0 : width / estimate.median;
}

} // namespace trainyard
