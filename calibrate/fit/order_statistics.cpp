#include "calibrate/fit/order_statistics.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

double median(std::vector<double> values)
{
    return percentile(std::move(values), 0.5);
}

double percentile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    if (below + 1 >= values.size())
        return values.back();
    return values[below] + (place - std::floor(place)) * (values[below + 1] - values[below]);
}

std::optional<Interval> interval_of_median(std::vector<double> values, double confidence)
{
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    double term = std::pow(0.5, static_cast<double>(n)); // C(n, i) / 2^n
    double tail = 0;
    std::size_t cut = 0; // values that may be left out on each side
    while (cut < n / 2) {
        tail += term;
        if (1 - 2 * tail < confidence)
            break;
        ++cut;
        term *= static_cast<double>(n - cut + 1) / static_cast<double>(cut);
    }
    if (cut == 0)
        return std::nullopt;
    return Interval{values[cut - 1], values[n - cut]};
}

} // namespace trainyard
