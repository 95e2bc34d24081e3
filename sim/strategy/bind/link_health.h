#pragma once

// What perturbed links leave to groups and pairs, as factors on their costs.

#include "sim/strategy/bind/ring.h"
#include "sim/topology/group_shape.h"

#include <array>
#include <span>
#include <vector>

namespace trainyard {

// Who is taken to send at the same time.
enum class Together : std::uint8_t {
    siblings, // all groups of a kind, as the ranks of one program do
    nobody    // the engine shares links itself
};

// By way (the hops of one group's rings, or one message):
//
//   time(way) = max over links of (bytes of all ways on the link) / (what it has left)
//   health    = time(way, sound links) / time(way, perturbed links), <= 1
//
// apart for hops inside a domain and across. Links of a trunk count as one, perfectly spread over,
// unless the cluster's flows collide. Latencies are means over the hops. All 1 and 0 on a sound
// cluster.
std::vector<LinkHealth> health_of(std::span<const std::vector<RingHop>> ways,
                                  const Topology& topology, Together together);

// Of the rings of groups.
std::vector<LinkHealth> ring_health(std::span<const std::vector<RankId>> groups,
                                    const Topology& topology, Together together);

// Of pairs of ranks that exchange messages, the worse direction of each.
std::vector<LinkHealth> pair_health(std::span<const std::array<RankId, 2>> pairs,
                                    const Topology& topology, Together together);

} // namespace trainyard
