#include "sim/strategy/bind/links.h"

#include "sim/strategy/bind/link_shares.h"
#include "sim/strategy/bind/ring.h"
#include "sim/strategy/bind/trees.h"
#include "sim/topology/topology_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

// Shares as the engine counts them: of 2^16.
std::vector<LinkUse> uses_of(const LinkShares& shares)
{
    std::vector<LinkUse> uses;
    for (const auto& [link, share] : shares.by_link())
        if (const long coefficient = std::lround(share * (1U << 16)); coefficient > 0)
            uses.push_back({link, static_cast<std::uint32_t>(coefficient)});
    return uses;
}

// Per byte leaving a member, `inside` times a ring's bytes stay in its domain and `across` times a
// ring's leave it.
struct Weights {
    double inside = 1.0;
    double across = 1.0;
};

// The group's members in the domain of `rank`, without it.
std::vector<RankId> members_beside(RankId rank, const RankGroup& group, const Topology& topology)
{
    const auto domain_of = [&](RankId r) {
        return topology.model().placement(DeviceId{r.value}).domain;
    };
    std::vector<RankId> beside;
    for (const RankId member : group.members)
        if (member != rank && domain_of(member) == domain_of(rank))
            beside.push_back(member);
    return beside;
}

// Do direct NVLinks join all of a group's members of a domain?
bool wired(const GroupShape& shape)
{
    return !shape.nvswitch && shape.nvlink.value() > 0 && shape.ranks_per_domain > 2;
}

// The hops of a group's rings, and what each puts on links.
class RingTraffic {
public:
    RingTraffic(const RankGroup& group, const GroupShape& shape, std::uint64_t flow,
                const Topology& topology)
        : group_(group),
          wired_(wired(shape)),
          flow_(flow),
          topology_(topology),
          hops_(ring_hops(group.members, topology))
    {}

    // Of all members together.
    std::vector<LinkUse> uses(Weights weights) const
    {
        LinkShares shares(topology_, flow_);
        for (const RingHop& hop : hops_)
            add(shares, hop, weights);
        return uses_of(shares);
    }

    // Of each member. Domains are numbered as their devices are, so rings follow the members.
    Ways ways() const
    {
        assert(std::ranges::is_sorted(hops_, {}, &RingHop::from));
        Ways ways;
        for (auto hop = hops_.begin(); hop != hops_.end();) {
            LinkShares shares(topology_, flow_);
            for (const RankId from = hop->from; hop != hops_.end() && hop->from == from; ++hop)
                add(shares, *hop, {});
            ways.add(uses_of(shares));
        }
        return ways;
    }

    // Up and down the edges of trees: what `weights` leave of the way out of the domains in equal
    // parts, what a member sends inside its domain with what it sends up.
    Ways tree_ways(const std::vector<TreeEdge>& edges, Weights weights) const
    {
        std::vector<std::vector<const RingHop*>> inside(group_.members.size());
        double out = 0;
        for (const RingHop& hop : hops_) {
            const bool one_domain = hop.share == 1.0 && !hop.across;
            if (hop.across || one_domain)
                out += hop.share * (hop.across ? weights.across : weights.inside);
            else
                inside[place_of(hop.from)].push_back(&hop);
        }
        std::vector<int> climbs(group_.members.size());
        for (const TreeEdge& edge : edges)
            ++climbs[edge.child];
        Ways ways;
        for (const TreeEdge& edge : edges) {
            const RankId child = group_.members[edge.child];
            const RankId parent = group_.members[edge.parent];
            const double share = out / (2.0 * static_cast<double>(edges.size()));
            LinkShares up(topology_, flow_);
            up.add(child, parent, share);
            for (const RingHop* hop : inside[edge.child])
                add(up, *hop, {weights.inside / climbs[edge.child], 0});
            LinkShares down(topology_, flow_);
            down.add(parent, child, share);
            ways.add(uses_of(up));
            ways.add(uses_of(down));
        }
        return ways;
    }

private:
    std::size_t place_of(RankId member) const
    {
        return static_cast<std::size_t>(std::ranges::lower_bound(group_.members, member) -
                                        group_.members.begin());
    }

    void add(LinkShares& shares, const RingHop& hop, Weights weights) const
    {
        if (hop.across)
            shares.add(hop.from, hop.to, hop.share * weights.across);
        else if (wired_)
            shares.add_over_wires(hop.from, members_beside(hop.from, group_, topology_),
                                  hop.share * weights.inside);
        else
            shares.add(hop.from, hop.to, hop.share * weights.inside);
    }

    const RankGroup& group_;
    bool wired_;
    std::uint64_t flow_;
    const Topology& topology_;
    std::vector<RingHop> hops_;
};

// A domain sends its sum out once: in a tree over two domains, or to switches that add.
bool leaves_once(const GroupShape& shape)
{
    return shape.domains == 2 || shape.network.in_network_reduction;
}

// Buffers that leave a domain with a tree.
double out_of_domain(const GroupShape& shape)
{
    return leaves_once(shape) ? 1.0 : bus_factor(CollectiveKind::all_reduce, shape.ranks);
}

Weights tree_weights(const GroupShape& shape)
{
    return {1.0, out_of_domain(shape) / bus_factor(CollectiveKind::all_reduce, shape.ranks)};
}

// Adds up like the costs of these algorithms (cost_model.cpp): a member sends 2(n-1)/n buffers with
// rings and trees, 1 + 1/r with NVLS; out of the domain go 2(n-1)/n or 1 per r members.
Weights weights_of(TrafficPattern pattern, const GroupShape& shape)
{
    if (shape.domains == 1 || shape.ranks_per_domain == 1)
        return {};
    const double r = shape.ranks_per_domain;
    if (pattern == TrafficPattern::nvls)
        return {r / (r - 1), out_of_domain(shape) / (1 + 1 / r)};
    return pattern == TrafficPattern::tree ? tree_weights(shape) : Weights{};
}

std::vector<LinkUse> all_to_all_uses(const RankGroup& group, std::uint64_t flow,
                                     const Topology& topology)
{
    LinkShares uses(topology, flow);
    const double share = 1.0 / static_cast<double>(group.members.size() - 1);
    for (const RankId from : group.members)
        for (const RankId to : group.members)
            uses.add(from, to, share);
    return uses_of(uses);
}

std::vector<LinkUse> path_uses(RankId from, RankId to, std::uint64_t flow, const Topology& topology)
{
    LinkShares uses(topology, flow);
    uses.add(from, to, 1.0);
    return uses_of(uses);
}

Ways pair_ways(const RankGroup& group, std::uint64_t flow, const Topology& topology)
{
    Ways ways;
    for (const RankId from : group.members)
        for (const RankId to : group.members)
            ways.add(path_uses(from, to, flow, topology));
    return ways;
}

// A ring of messages: each member's bytes go to the next one.
Ways neighbour_ways(const RankGroup& group, std::uint64_t flow, const Topology& topology)
{
    Ways ways;
    for (std::size_t i = 0; i < group.members.size(); ++i)
        ways.add(path_uses(group.members[i], group.members[(i + 1) % group.members.size()], flow,
                           topology));
    return ways;
}

// Switches of the network that add do so for all at once: no trees.
void bind_trees(Group& group, const RankGroup& source, const RingTraffic& traffic,
                const GroupShape& shape, const Topology& topology)
{
    if (shape.network.in_network_reduction && shape.domains > 1)
        return;
    const bool levels = shape.domains > 1 && shape.ranks_per_domain > 1;
    group.tree_edges = tree_edges(source.members, topology);
    group.tree_ways = traffic.tree_ways(group.tree_edges, levels ? tree_weights(shape) : Weights{});
}

} // namespace

std::vector<LinkUse> group_uses(const RankGroup& group, const GroupShape& shape,
                                TrafficPattern pattern, std::uint64_t flow,
                                const Topology& topology)
{
    switch (pattern) {
    case TrafficPattern::all_to_all:
        return all_to_all_uses(group, flow, topology);
    case TrafficPattern::neighbours:
        return sum_of(neighbour_ways(group, flow, topology));
    default:
        return RingTraffic(group, shape, flow, topology).uses(weights_of(pattern, shape));
    }
}

void bind_group(Group& group, const RankGroup& source, const GroupShape& shape, std::uint64_t flow,
                const LinkPlan& plan, const std::function<bool(TrafficPattern)>& takes)
{
    const Topology& topology = plan.topology;
    const bool steps = plan.detail == LinkDetail::steps;
    const auto uses = [&](TrafficPattern pattern) {
        return group_uses(source, shape, pattern, flow, topology);
    };
    if (takes(TrafficPattern::ring) && plan.detail != LinkDetail::sums) {
        group.ring_hops = RingTraffic(source, shape, flow, topology).ways();
        group.ring = sum_of(group.ring_hops);
    } else if (takes(TrafficPattern::ring)) {
        group.ring = uses(TrafficPattern::ring);
    }
    if (takes(TrafficPattern::tree)) {
        group.tree = uses(TrafficPattern::tree);
        if (steps)
            bind_trees(group, source, RingTraffic(source, shape, flow, topology), shape, topology);
    }
    if (takes(TrafficPattern::nvls))
        group.nvls = uses(TrafficPattern::nvls);
    if (takes(TrafficPattern::neighbours)) {
        Ways ways = neighbour_ways(source, flow, topology);
        group.neighbours = sum_of(ways);
        if (steps)
            group.neighbour_hops = std::move(ways);
    }
    if (takes(TrafficPattern::all_to_all)) {
        group.all_to_all = uses(TrafficPattern::all_to_all);
        if (steps)
            group.pairs = pair_ways(source, flow, topology);
    }
}

TrafficSplit traffic_split(const RankGroup& group, const GroupShape& shape, TrafficPattern pattern,
                           const Topology& topology)
{
    TrafficSplit split;
    const auto add = [&](const TrafficSplit& part) {
        split.inside += part.inside;
        split.outside += part.outside;
    };
    switch (pattern) {
    case TrafficPattern::all_to_all: {
        std::map<DomainId, double> members;
        for (const RankId member : group.members)
            ++members[topology.model().placement(DeviceId{member.value}).domain];
        const auto all = static_cast<double>(group.members.size());
        for (const auto& [domain, here] : members)
            add({here * (here - 1) / (all - 1), here * (all - here) / (all - 1)});
        break;
    }
    case TrafficPattern::neighbours:
        for (std::size_t i = 0; i < group.members.size(); ++i)
            add(traffic_split(group.members[i], group.members[(i + 1) % group.members.size()],
                              topology));
        break;
    default:
        const Weights weights = weights_of(pattern, shape);
        for (const RingHop& hop : ring_hops(group.members, topology))
            add(hop.across ? TrafficSplit{0, hop.share * weights.across}
                           : TrafficSplit{hop.share * weights.inside, 0});
    }
    return split;
}

TrafficSplit traffic_split(RankId from, RankId to, const Topology& topology)
{
    const auto domain_of = [&](RankId rank) {
        return topology.model().placement(DeviceId{rank.value}).domain;
    };
    return domain_of(from) == domain_of(to) ? TrafficSplit{1, 0} : TrafficSplit{0, 1};
}

std::vector<LinkUse> message_uses(RankId from, RankId to, const Topology& topology)
{
    return path_uses(from, to, 0, topology);
}

} // namespace trainyard
