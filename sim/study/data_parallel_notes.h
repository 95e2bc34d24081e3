#pragma once

// Data-parallel options against the job and the cluster they meet.

#include "sim/strategy/job.h"
#include "sim/topology/topology.h"

namespace trainyard {

// Warnings: options that are stated and that this job cannot feel.
Problems data_parallel_notes(const Strategy& stated, const Job& job);

// A process runs replicas on devices of its own host only.
Problems one_host_misfits(const Job& job, const Topology& topology);

} // namespace trainyard
