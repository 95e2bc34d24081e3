#pragma once

// Which of the sizes that were looked at are worth a choice.

#include "sim/study/capacity/capacity_plan.h"

namespace trainyard {

struct ClusterFront {
    struct Place {
        std::size_t kind = 0;
        std::size_t size = 0; // of its sizes

        bool operator==(const Place&) const = default;
    };
    std::vector<Objective> objectives;
    std::vector<Place> places; // kind by kind, the smallest first
};

// Nothing where it is not known: no price, no power of that device, no training.
std::optional<double> value_of(Objective objective, const SizedCluster& sized);

// Of all kinds together, whether they meet the goal or not. `objectives`: at most three; empty:
// days (or what is learned, where the goal leaves that open), the cost or else the GPUs, and the
// energy where it is known. Sizes without one of the values are left out.
ClusterFront cluster_front(const CapacityPlan& plan, std::vector<Objective> objectives);

} // namespace trainyard
