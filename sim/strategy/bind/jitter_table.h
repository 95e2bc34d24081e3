#pragma once

// A distribution of kernel jitter as the table of quantiles that engines draw from.

#include "sim/program/jitter.h"
#include "sim/strategy/conditions.h"

namespace trainyard {

// The factor that a share `tail` of all draws is below (or, for `upper`, above): 0 < tail <= 1/2.
double jitter_quantile_of(const KernelJitter& jitter, double tail, bool upper);

// Factors are kept within [0, 1024].
Jitter jitter_table(const SeededJitter& jitter);

// z with probability `tail` beyond it on the upper side: 0 < tail <= 1/2 (Wichura 1988, AS 241,
// relative accuracy 1e-16).
double normal_tail(double tail);

} // namespace trainyard
