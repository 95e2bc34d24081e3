#pragma once

// Group sizes that nobody measured, from two that somebody did.

#include "sim/cost/knots.h"
#include "sim/topology/group_shape.h"

#include <optional>
#include <span>

namespace trainyard {

struct CollectiveClasses;

// A measured curve of a group of that many ranks inside one domain.
struct RankedCurve {
    int ranks = 0;
    const KnotCurve* curve = nullptr;
};

struct CurveEstimate {
    KnotCurve curve;     // its intervals hold the error of the estimate
    double distance = 0; // doublings beyond the nearest measured size; 0: between the two
    std::string basis;   // "between 2 and 8 ranks", "0.5 doublings beyond 4 ranks"
};

// The time among `ranks` ranks of a domain from those among two other numbers of ranks, linear in
// log2(ranks) on the logarithm of time, the geometric mean of two readings of it:
// * same bytes of the buffer per rank (a ring's steps are alike, there are more of them);
// * same buffer, its bandwidth part by the bus factor instead of log2(ranks).
// On 62 published sets of one machine: 4 of 2 and 8 ranks errs by 6.8 % (median), 8 of 2 and 4 by
// 12 %. Intervals (90 %): 12 % between, 20 % per doubling beyond.
// Requires two different numbers of ranks, two or more each.
CurveEstimate estimate_ranks(CollectiveKind kind, const RankedCurve& a, const RankedCurve& b,
                             int ranks);

// The time over `shape` from a curve measured over `measured`, which has other domains: the closed
// form's ratio of the two, at every size. Latencies add and bandwidth terms take the maximum, a
// tree's depth is log2(domains), a ring's its domains. Intervals: 20 % above 16 MiB, 50 % below,
// for a doubling of domains, growing with the square root of the doublings.
CurveEstimate estimate_domains(CollectiveKind kind, const KnotCurve& curve,
                               const GroupShape& measured, const GroupShape& shape,
                               const CollectiveClasses& classes);

} // namespace trainyard
