#pragma once

// Which links the traffic of groups and neighbours crosses (fidelity bundle).

#include "sim/strategy/bind/rank_groups.h"

namespace trainyard {

// Fills the capacities of all links, the uses of each group and the paths between neighbours.
// Requires one lane per rank; `sources`: the ranks of each group.
//
// Ring over r members in each of d domains: NCCL runs r rings, each through all members of a domain
// and leaving it at another one. Per byte leaving a member, (r - 1)/r stay inside (all with one
// domain) and each member's own way out carries 1/r. All-to-all: 1/(n - 1) to each other member.
void bind_links(Binding& binding, const std::vector<const RankGroup*>& sources,
                const Topology& topology);

} // namespace trainyard
