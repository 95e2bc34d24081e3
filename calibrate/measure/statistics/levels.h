#pragma once

// Whether a series has separate levels: a cache hit and a miss, two algorithms, two paths.

#include <span>

namespace trainyard {

// Whether `times` fall into two levels: split where the sum of distances from the two medians is
// smallest, with at least 15 % of the values and one more on each side, the medians are
//   4.8 + 65 / n
// times further apart than values are from their level's median on average, on the wider side, and
// by at least 2 % of the lower one, so that ticks of a clock are no levels.
//
// At most 7 of 1,000 series with one level are taken for two (simulated: uniform, normal,
// lognormal, exponential and Pareto times, with 5 % outliers, of 20 to 100 values; normal ones:
// none of 10,000). Levels 10 standard deviations apart, the higher taken by a quarter of the
// values, are seen 75 times in 100 at 20 values and 94 at 50; 5 deviations apart 42 at 50 and 78 at
// 100. A jump while the series is taken makes two levels too: see drift. Below 20 values nothing is
// seen.
bool has_levels(std::span<const double> times);

} // namespace trainyard
