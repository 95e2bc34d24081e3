#pragma once

// What constants of a cluster expect of the collectives that were recorded on it.

#include "sim/cost/cost_model.h"
#include "sim/topology/topology.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// The group of a row whose size is known: ranks lie on devices in order; members that are not
// listed in full are taken to be neighbours. Nothing where the cluster has not so many devices.
std::optional<GroupShape> shape_of(const RunSummary& run, const TransferRow& row,
                                   const Topology& topology);

// The library of the job's transfers; where it has one for devices and one for hosts, that of
// devices.
Backend backend_of(const RunSummary& run);

// Fills `expected` of the transfers whose kind, size and group are known. Notes how many transfers
// a cluster of fewer devices leaves out.
void add_expected_rates(RunSummary& run, const Topology& topology, const CostModel& cost);

} // namespace trainyard
