#pragma once

// A rate over time as a step function, with its integral: what is asked of it takes a search,
// however many changes it has.

#include "sim/base/quantity.h"

#include <span>
#include <vector>

namespace trainyard {

struct RateCurve {
    std::vector<SimTime> times;  // where the rate changes, ascending; 0 before the first
    std::vector<double> rates;   // from there on, per second
    std::vector<double> amounts; // what has come until there

    // The rate becomes that at `time`, which is not before the last change.
    void change(SimTime time, double rate);
    double rate_at(SimTime time) const;
    double amount_until(SimTime time) const;
    // Mean rate over each of `parts` equal parts of from < to.
    std::vector<double> means(SimTime from, SimTime to, std::size_t parts) const;
};

struct WeightedCurve {
    const RateCurve* curve = nullptr; // not null
    double weight = 1;
};

// n log n in all changes together.
RateCurve sum_of(std::span<const WeightedCurve> curves);

} // namespace trainyard
