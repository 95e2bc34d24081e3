#pragma once

// What a series of batch times says.

#include <span>

namespace trainyard {

// Of times in seconds, in the order in which they were taken.
struct Estimate {
    double median = 0;
    double low = 0; // 95 % interval of the median by order statistics; too few: the extremes
    double high = 0;
    int outliers = 0; // above median + 6 MAD; they count in everything above
    double drift = 0; // last half's median / first half's - 1, where that is no chance; else 0
    bool multimodal = false; // two or more separate levels

    bool operator==(const Estimate&) const = default;
};

// Everything about `times`; all zero without any.
//
// The interval covers the median of independent times at least 95 times in 100 (95.9 at 20 values,
// 93.75 at 5), whatever their distribution: noise, outliers and separate levels do not hurt it.
// Times that depend on one another do: with a correlation of 0.3 between neighbours it covers 90,
// with 0.5 83, with 0.8 57 times in 100, and of a level that drifts some value between. The spread
// over launches is the honest interval then.
//
// MAD: the median distance from the median, at least 0.1 % of the median, so that ticks of a clock
// are no outliers.
Estimate estimate_of(std::span<const double> times);

// Half of the interval's width as a share of the median; 0 where both are 0.
double half_width(const Estimate& estimate);

} // namespace trainyard
