#pragma once

// A model of the right shape made to fit by two factors: one of all latencies, one of all
// bandwidths.

#include "calibrate/fit/clean_sweep.h"

#include <span>

namespace trainyard {

// One way to do a collective of one size: seconds that do not depend on the size, and seconds that
// grow with it.
struct CandidateTime {
    double latency = 0;
    double transfer = 0;
};

// A measured time and what the model offers for it; the lowest offer counts.
struct OfferedTime {
    std::vector<CandidateTime> candidates;
    TimedSize measured;
};

struct TwoScalars {
    double latency = 1;   // factor of latencies
    double bandwidth = 1; // factor of bandwidths

    bool operator==(const TwoScalars&) const = default;
};

// min over candidates of latency x L + transfer / B. Requires a candidate.
double offered_time(std::span<const CandidateTime> candidates, const TwoScalars& scalars);

// The factors with the least mean absolute relative error: least squares reweighted towards it
// (1 / |error|), candidates chosen again at each turn, from several starts. All ones without
// points.
TwoScalars fit_two_scalars(std::span<const OfferedTime> points);

// Mean absolute relative error.
double mean_error(std::span<const OfferedTime> points, const TwoScalars& scalars);

} // namespace trainyard
