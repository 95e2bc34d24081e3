#pragma once

// One cluster of one size: its best layout, and the training on it.

#include "sim/study/capacity/capacity_plan.h"

namespace trainyard {

// Values that no cluster can have, and a goal that contradicts itself.
Problems problems_of(const CapacityRequest& request);

// Powers of two of nodes within a range of GPUs; none without it.
std::vector<int> sizes_within(const std::optional<GpuRange>& range, const ClusterKind& kind);

SizedCluster sized_cluster(const CapacityRequest& request, const ClusterKind& kind, int nodes,
                           Session& session);

// Devices of that kind that must compute all the time, at the rate of their data sheets, to be
// through by the deadline. 0: not known.
double least_devices(const CapacityRequest& request, const ClusterKind& kind);

} // namespace trainyard
