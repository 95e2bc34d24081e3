#pragma once

// Which devices of a cluster the ranks of a job run on, and what groups of theirs lie badly.

#include "sim/strategy/job.h"
#include "sim/topology/topology.h"

#include <memory>

namespace trainyard {

// The devices that strategy.gpus_per_domain leaves to the job: the cluster itself where it is 0.
std::shared_ptr<const Topology> used_part(const std::shared_ptr<const Topology>& cluster,
                                          const Strategy& strategy);

// An error: more GPUs per domain than `cluster` has.
Problems placement_misfits(const Strategy& strategy, const Topology& cluster);

// Warnings: groups of TP, CP or EP that lie in two NVLink domains though one would hold them.
// Requires a device for each rank.
Problems placement_notes(const Job& job, const Topology& topology);

// A warning where the job leaves some of the cluster's `devices` idle.
Problems idle_devices_note(const Job& job, int devices);

} // namespace trainyard
