#pragma once

// Medians, percentiles and intervals that assume no distribution.

#include <optional>
#include <vector>

namespace trainyard {

// Middle value; of an even number the mean of the two. Requires a value.
double median(std::vector<double> values);

// Linear between order statistics, `share` from 0 to 1 (the same rule as spreadsheets and numpy).
// Requires a value.
double percentile(std::vector<double> values, double share);

struct Interval {
    double low = 0;
    double high = 0;

    bool operator==(const Interval&) const = default;
};

// Interval of the median that covers it with at least `confidence`, whatever the distribution: the
// order statistics k and n+1-k with the largest k for which
//   1 - 2 sum_{i<k} C(n, i) / 2^n >= confidence.
// Nothing below the number of values that can give it (6 for 95 %).
std::optional<Interval> interval_of_median(std::vector<double> values, double confidence = 0.95);

} // namespace trainyard
