#pragma once

// What constants of a cluster expect of the collectives that were recorded on it.

#include "sim/cost/cost_model.h"
#include "sim/topology/topology.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// Fills `expected` of the transfers whose kind, size and group are known: ranks lie on devices in
// order; members that are not listed in full are taken to be neighbours. Notes how many transfers
// a cluster of fewer devices leaves out.
void add_expected_rates(RunSummary& run, const Topology& topology, const CostModel& cost);

} // namespace trainyard
