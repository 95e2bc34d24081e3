#pragma once

// Times of the same work over launches, and rates and slowdowns made of them.

#include "calibrate/fit/host_profile.h"
#include "calibrate/import/pair_matrix.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// The median over launches of their medians; of one launch with its own interval, else with the
// extremes. Seconds per op.
struct WorkTime {
    GroupSpec group;
    TimedWork work;
    MeasuredValue seconds;
};

// Every work of a run whose results were right, in the order in which it was first measured.
std::vector<WorkTime> work_times(const MeasuredRun& run);

// An amount per time: the interval turns round.
MeasuredValue rate_of(double amount, const MeasuredValue& seconds);

// The value in the middle of several, with the extremes of their intervals. Requires one.
MeasuredValue middle_of(std::vector<MeasuredValue> values);

// Bandwidth one way, both ways at once (each pair's sum) and latency between ranks, as far as each
// was measured.
std::vector<PairMatrix> pair_matrices(const MeasuredRun& run);

// What kernels of a kind and collectives lose to one another, each beside the other and alone: the
// middle of all that were timed so. Of compute_lost it is chosen so that compute_lost x transfer,
// what a transfer's work costs compute (BackendInterference::lost_to_full_rate), is the middle one
// of the pairs' products: the split between the two is a scheduler's whim, their product is not.
struct Slowdowns {
    std::optional<MeasuredValue> compute_lost; // share of the kernel's rate
    std::optional<MeasuredValue> transfer;     // time beside / time alone
};
Slowdowns slowdowns(const std::vector<WorkTime>& times, LocalKind kernel);

} // namespace trainyard
