#pragma once

// Which links the traffic of groups and neighbours crosses (fidelities above alpha-beta).

#include "sim/strategy/bind/rank_groups.h"

namespace trainyard {

struct LinkPlan {
    const Topology& topology;
    LinkDetail detail = LinkDetail::sums;
};

// Fills the capacities of all links, the uses of each group and the paths between neighbours.
// Requires one lane per rank; `sources`: the ranks of each group; `shapes`: of the plan's groups.
//
// Sums follow the rings of ring.h; what leaves the domain per byte leaving a member depends on the
// algorithm (TrafficPattern). All-to-all: 1/(n - 1) to each other member. With LinkDetail::hops the
// same follows member by member: all rings of a domain together as one hop from each member to the
// next; with LinkDetail::steps so do trees, pairs and neighbours.
void bind_links(Binding& binding, const std::vector<const RankGroup*>& sources,
                const std::vector<GroupShape>& shapes, const LinkPlan& plan);

} // namespace trainyard
