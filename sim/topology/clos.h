#pragma once

// The switches of a leaf/spine/core fabric, counted: how many of each, and which link joins which.
//
// Leaves are numbered unit by unit and rail by rail; spines pod by pod; cores group by group, where
// group s serves spine s of every pod. A fat tree of k-port switches and NVIDIA's SuperPOD tables
// both fall out of the same rules (tests/unit/topology/test_clos.cpp).

#include "sim/topology/fabric_template.h"
#include "sim/topology/node_template.h"

#include <tl/expected.hpp>

namespace trainyard {

struct ClosShape {
    int rails = 1; // leaves per unit
    int nodes_per_unit = 1;
    int units = 1;
    int leaves = 1;
    int leaf_downlinks = 1; // NICs of a full unit on one leaf
    int leaf_uplinks = 0;   // 0: one leaf, no spines
    int units_per_pod = 1;
    int pods = 1;
    int spines_per_pod = 0;
    int spine_uplinks = 0;   // 0: one pod, no cores
    int cores_per_group = 0; // one group per spine of a pod
    Bandwidth nic_rate;
    Bandwidth uplink_rate;

    int leaves_per_pod() const { return units_per_pod * rails; }
    int spines() const { return spines_per_pod * pods; }
    int cores() const { return cores_per_group * spines_per_pod; }
    int pod_of_leaf(int leaf) const { return leaf / leaves_per_pod(); }

    // Parallel links between one leaf and one spine of its pod, one spine and one core of its
    // group.
    int links_per_spine() const { return spines_per_pod == 0 ? 0 : leaf_uplinks / spines_per_pod; }
    int links_per_core() const
    {
        return cores_per_group == 0 ? 0 : spine_uplinks / cores_per_group;
    }

    // Line rate of the NICs below / rate of a layer's uplinks, not below 1. The second counts from
    // the NICs too, so it is what traffic between pods sees when everyone sends.
    double leaf_oversubscription() const;
    double core_oversubscription() const;

    bool operator==(const ClosShape&) const = default;
};

// Why a fabric cannot be built, with the field to blame and a way out.
struct ClosFlaw {
    std::string field;
    std::string message;
    std::string hint;
};

// Requires node.nics > 0 and nodes > 0.
tl::expected<ClosShape, ClosFlaw> clos_shape(int nodes, const NodeTemplate& node,
                                             const FabricTemplate& fabric);

} // namespace trainyard
