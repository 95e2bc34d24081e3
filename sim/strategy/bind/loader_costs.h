#pragma once

// What a plan's loading takes on a cluster.

#include "sim/program/binding.h"
#include "sim/strategy/data/loader_rates.h"
#include "sim/strategy/plan.h"

namespace trainyard {

// The rates of a rank on the node where most ranks load: others are not slower. Requires
// `job.data`.
LoaderRates loader_rates(const Plan& plan, const Job& job, const Topology& topology,
                         const CostModel& cost);

// Fills in the durations of the ops that load. Does nothing without `job.data`.
void bind_loader(CostTable& table, const Plan& plan, const Job& job, const Topology& topology,
                 const CostModel& cost);

} // namespace trainyard
