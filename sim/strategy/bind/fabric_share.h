#pragma once

// What an oversubscribed fabric leaves to groups when all of a kind communicate at once, as the
// ranks of one program do.

#include "sim/topology/topology.h"

#include <span>
#include <vector>

namespace trainyard {

struct FabricPart {
    // What each member of the group's fullest domain can send out of it while all rings run; 0:
    // as much as its NICs.
    Bandwidth ring_share;
    // Of the worst layer of switches that the group's traffic climbs.
    double oversubscription = 1.0;
};

// By group of one slot.
//
// A ring crosses the border of a leaf (or pod) once per direction. A trunk that carries the hops of
// several rings gives each its part of the capacity:
//   share = min over trunks of capacity / sum over hops (1 / members of the hop's domain) / members
// The cluster is taken to be sound: what it has lost is for LinkHealth.
// Perfect spreading over the links of a trunk, as in trunks.h.
std::vector<FabricPart> fabric_parts(std::span<const std::vector<RankId>> groups,
                                     const Topology& topology);

// The worst oversubscription that messages between two ranks climb over.
double oversubscription_between(RankId from, RankId to, const Topology& topology);

} // namespace trainyard
