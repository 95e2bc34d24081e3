#pragma once

// What the transfers of a plan put on links, rank by rank (fidelities above alpha-beta).

#include "sim/strategy/bind/rank_groups.h"
#include "sim/strategy/conditions.h"

namespace trainyard {

struct RankTraffic {
    std::vector<ByteRate> capacities{}; // by LinkId; a trunk's are its carrier's
    std::vector<LinkKind> kinds{};      // by LinkId
    std::vector<LinkWindow> windows{};  // by begin
    std::vector<Group> groups{};        // by group of ranks: kind and uses alone
    std::vector<std::vector<std::vector<LinkUse>>> messages{}; // by rank and slot of its peer
};

// Of groups the patterns that their collectives take, by `costs` (by the shapes of the
// neighbourhood); among equal ways a group's number chooses (flow_numbers).
RankTraffic rank_traffic(const Program& program, const Neighbourhood& neighbourhood,
                         const CostTable& costs, const Conditions& conditions,
                         const Topology& topology, LinkDetail detail);

} // namespace trainyard
