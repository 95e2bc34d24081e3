#pragma once

// How much of the ideal speed-up the job keeps.

#include "sim/study/outcome.h"

namespace trainyard {

class Session;

struct Scaling {
    int base_gpus = 0; // smallest size on which the job fits
    Seconds base_step; // its step time with the same batch per replica
    double efficiency = 0;
};

// efficiency = (throughput_N / throughput_base) / (N / base). With the batch per replica fixed,
// throughput grows with the replicas, so this is base step / step.
double scaling_efficiency(Seconds base_step, Seconds step);

// The same job with fewer replicas: the data-parallel sizes that divide the job's, smallest first;
// tensor, context and pipeline sizes stay. Sizes that the expert groups do not divide are left out.
std::vector<int> smaller_replica_counts(const Job& job);

// Simulates the smaller sizes in turn until one fits in memory, on healthy devices: a slow device
// of the job counts as lost efficiency. None when the job itself does not fit.
std::optional<Scaling> scaling_against_smallest(const Outcome& outcome, const ScenarioFile& file,
                                                Session& session);

} // namespace trainyard
