#pragma once

// Everything that fitting one sweep gives.

#include "calibrate/fit/compact_form.h"
#include "calibrate/fit/curve.h"
#include "calibrate/fit/errors.h"

namespace trainyard {

struct SweepFit {
    std::string source;
    CollectiveKind collective = CollectiveKind::all_reduce;
    int ranks = 0;
    int nodes = 1;
    std::vector<TimedSize> points; // cleaned
    KnotCurve curve;
    std::vector<AlphaBetaLine> lines; // compact form
    ErrorTally in_sample;
    std::vector<Residual> left_out; // of each interior size, fitted without it
    ErrorTally leave_one_out;
    ErrorTally compact; // of the lines, in sample
    std::vector<std::string> flags;

    bool operator==(const SweepFit&) const = default;
};

// A sweep without usable rows gives a fit without points, and says so in its flags.
SweepFit fit_sweep(const Sweep& sweep, Buffers buffers = Buffers::out_of_place);

// Points for which leaving one out says something about the whole range.
inline constexpr std::size_t enough_points = 10;

// Over sweeps with `enough_points`: percentiles of their mean errors, as shares.
struct FitSummary {
    std::size_t sweeps = 0; // all
    std::size_t scored = 0; // with enough points
    double in_sample_median = 0;
    double loo_median = 0;
    double loo_p90 = 0;
    double compact_median = 0;
    std::map<CollectiveKind, ErrorTally> by_collective; // leave-one-out errors of all points
    ErrorTally all;
    ErrorTally held_out_launch; // each of several launches against the others
};
FitSummary summarise(std::span<const SweepFit> fits);

// Errors of each launch of a configuration that was swept more than once, against the median of
// its other launches.
ErrorTally held_out_launch_errors(std::span<const Sweep> sweeps);

// The same for the launches of one configuration; nothing where there is but one.
ErrorTally held_out_launch_errors(const std::vector<std::vector<TimedSize>>& launches);

} // namespace trainyard
