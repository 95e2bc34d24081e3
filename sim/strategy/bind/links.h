#pragma once

// Which links the traffic of groups and neighbours crosses (fidelities above alpha-beta).

#include "sim/strategy/bind/rank_groups.h"
#include "sim/strategy/conditions.h"

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

// What one group's traffic of a pattern puts on links, by link; `flow` chooses among equal ways.
// The same that `bind_links` gives a group, of which `flow` is the number.
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

// What links have left for a time. Requires bound links.
void bind_link_windows(Binding& binding, const Conditions& conditions, const Topology& topology);

} // namespace trainyard
