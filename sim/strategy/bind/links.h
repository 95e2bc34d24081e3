#pragma once

// Which links the traffic of groups and neighbours crosses (fidelities above alpha-beta).

#include "sim/strategy/bind/rank_groups.h"

#include <functional>

namespace trainyard {

struct LinkPlan {
    const Topology& topology;
    LinkDetail detail = LinkDetail::sums;
};

// Fills the uses of links of a group for the patterns that it takes; `flow` chooses among equal
// ways.
//
// Sums follow the rings of ring.h; what leaves the domain per byte leaving a member depends on the
// algorithm (TrafficPattern). All-to-all: 1/(n - 1) to each other member. With LinkDetail::hops the
// same follows member by member: all rings of a domain together as one hop from each member to the
// next; with LinkDetail::steps so do trees, pairs and neighbours.
void bind_group(Group& group, const RankGroup& source, const GroupShape& shape, std::uint64_t flow,
                const LinkPlan& plan, const std::function<bool(TrafficPattern)>& takes);

// What one group's traffic of a pattern puts on links, by link; `flow` chooses among equal ways.
// The same that `bind_group` gives a group.
std::vector<LinkUse> group_uses(const RankGroup& group, const GroupShape& shape,
                                TrafficPattern pattern, std::uint64_t flow,
                                const Topology& topology);

// Bytes that stay in NVLink domains and that leave them, of all members together per byte leaving
// the busiest member. By count of hops, whatever links they cross.
struct TrafficSplit {
    double inside = 0;
    double outside = 0;

    bool operator==(const TrafficSplit&) const = default;
};
TrafficSplit traffic_split(const RankGroup& group, const GroupShape& shape, TrafficPattern pattern,
                           const Topology& topology);

// Of a message.
TrafficSplit traffic_split(RankId from, RankId to, const Topology& topology);

// What a message puts on them.
std::vector<LinkUse> message_uses(RankId from, RankId to, const Topology& topology);

} // namespace trainyard
