#pragma once

// Whether a series changes its level while it is taken.

#include <span>

namespace trainyard {

// Last half's median over the first half's, minus 1; 0 where that may be chance (or the first
// median is 0).
//
// Rank-sum test of the halves (Wilcoxon, Mann and Whitney), two-sided at 0.1 %. Neighbours that
// depend on one another make halves differ by chance, so the test's deviation is widened by
// sqrt((1 + r) / (1 - r)), r their correlation once a step between the halves or a slope, whichever
// explains more, is taken off. Below 16 values nothing is significant.
double drift_of(std::span<const double> times);

} // namespace trainyard
