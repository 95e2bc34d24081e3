#pragma once

// A model of the right shape made to fit by two factors: one of all latencies, one of all
// bandwidths.

#include "calibrate/fit/clean_sweep.h"

#include <array>
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

// What moving has to gain: a doubling or a halving of a factor counts as much as 0.03 of mean
// error, so that one that the points hardly determine stays at one.
double prior_cost(const TwoScalars& scalars);

// Which of the two leave one.
struct Moves {
    bool latency = true;
    bool bandwidth = true;
};
inline constexpr std::array every_move = {Moves{true, true}, Moves{true, false},
                                          Moves{false, true}};

// Factors that hardly moved (0.5 %) as one.
TwoScalars settled(TwoScalars scalars);

// The factors with the least mean absolute relative error, both, one or none of them other than
// one: whichever has the least sum of error and prior_cost. Least squares reweighted towards the
// error (1 / |error|), candidates chosen again at each turn, from several starts. All ones without
// points.
TwoScalars fit_two_scalars(std::span<const OfferedTime> points);

// Mean absolute relative error.
double mean_error(std::span<const OfferedTime> points, const TwoScalars& scalars);

// Measured over offered, geometric mean. Requires a point.
double typical_ratio(std::span<const OfferedTime> points);

} // namespace trainyard
