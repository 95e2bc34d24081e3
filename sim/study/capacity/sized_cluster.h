#pragma once

// One cluster of one size: its best layout, and the training on it.

#include "sim/study/capacity/capacity_plan.h"

namespace trainyard {

// Values that no cluster can have, and a goal that contradicts itself; those of a text of a
// CapacityQuestion (sim/api) point to its field.
Problems problems_of(const CapacityRequest& request);

// "b200 has no price"; empty where all have one.
std::string unpriced_text(const CapacityRequest& request);

struct ClusterSize {
    ClusterKind kind; // of part of a node where that is all
    int nodes = 1;

    int gpus() const { return nodes * kind.gpus_per_node; }
};

// The smallest first: powers of two of nodes within a range of GPUs, and of a known GPU such parts
// of one node; where these are less than two, three times them too, else the ends of the range.
// None without a range.
std::vector<ClusterSize> sizes_within(const std::optional<GpuRange>& range,
                                      const ClusterKind& kind);

// 1, 2, 3, 4, 6, 8, 12, 16, ...: sizes that layouts divide.
int next_size(int nodes);

// Of interrupted work the best that was found.
SizedCluster sized_cluster(const CapacityRequest& request, const ClusterKind& kind, int nodes,
                           Session& session);

// Of the request's scenario, or the one that it names. Nothing where it cannot be read.
std::optional<Model> model_of(const CapacityRequest& request, const ClusterKind& kind);

// The memory of a device; nothing where it is not known.
std::optional<Bytes> device_capacity(const CapacityRequest& request, const ClusterKind& kind);

// Devices of that kind that must compute all the time, at the rate of their data sheets, to be
// through by the deadline. 0: not known.
double least_devices(const CapacityRequest& request, const ClusterKind& kind);

} // namespace trainyard
