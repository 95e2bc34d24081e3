#pragma once

// The smallest cluster on which a training runs at all, whatever its time and cost.

#include "sim/study/capacity/capacity_plan.h"

namespace trainyard {

// Of nodes of that kind, found by searching one number of nodes after the other; beyond a few dozen
// in the steps of `next_size`. `least_memory`: what a device of `kind.nodes` nodes needs at least,
// where that is too much: fewer devices need more each, so sizes that are far from having enough
// together are passed over. Nothing where no size has a layout. Throws Cancelled. Requires
// `kind.nodes`.
std::optional<SizedCluster> smallest_cluster(const CapacityRequest& request, ClusterKind kind,
                                             std::optional<Bytes> least_memory, Session& session);

} // namespace trainyard
