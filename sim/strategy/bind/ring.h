#pragma once

// The way of a group's rings over its members.

#include "sim/base/ids.h"
#include "sim/topology/topology.h"

#include <span>
#include <vector>

namespace trainyard {

// From a member to the next one of its ring. `share`: of the bytes leaving the member.
struct RingHop {
    RankId from;
    RankId to;
    double share = 1.0;
    bool across = false; // domains
};

// NCCL runs one ring per member of a domain, each through all members of the domain and leaving it
// at another one: (r - 1)/r of a member's bytes go to its neighbour inside (all with one domain),
// 1/r out. Domains follow each other in the order of their numbers.
std::vector<RingHop> ring_hops(std::span<const RankId> members, const Topology& topology);

} // namespace trainyard
