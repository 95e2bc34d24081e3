#include "sim/strategy/bind/links.h"

#include "sim/strategy/bind/link_shares.h"
#include "sim/strategy/bind/ring.h"
#include "sim/topology/topology_model.h"

#include <algorithm>
#include <cmath>

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

std::vector<LinkUse> ring_uses(const RankGroup& group, const GroupShape& shape, std::uint64_t flow,
                               const Topology& topology, Weights weights)
{
    LinkShares uses(topology, flow);
    for (const RingHop& hop : ring_hops(group.members, topology))
        if (hop.across)
            uses.add(hop.from, hop.to, hop.share * weights.across);
        else if (wired(shape))
            uses.add_over_wires(hop.from, members_beside(hop.from, group, topology),
                                hop.share * weights.inside);
        else
            uses.add(hop.from, hop.to, hop.share * weights.inside);
    return uses_of(uses);
}

// A domain sends its sum out once: in a tree over two domains, or to switches that add.
bool leaves_once(const GroupShape& shape)
{
    return shape.domains == 2 || shape.network.in_network_reduction;
}

// Adds up like the costs of these algorithms (cost_model.cpp): a member sends 2(n-1)/n buffers with
// rings and trees, 1 + 1/r with NVLS; out of the domain go 2(n-1)/n or 1 per r members.
void bind_sums(Group& group, const RankGroup& source, const GroupShape& shape, std::uint64_t flow,
               const Topology& topology)
{
    group.ring = ring_uses(source, shape, flow, topology, {});
    if (shape.domains == 1 || shape.ranks_per_domain == 1) {
        group.tree = group.nvls = group.ring;
        return;
    }
    const double twice = bus_factor(CollectiveKind::all_reduce, shape.ranks);
    const double out = leaves_once(shape) ? 1.0 : twice;
    const double r = shape.ranks_per_domain;
    group.tree = ring_uses(source, shape, flow, topology, {1.0, out / twice});
    if (shape.in_switch_reduction)
        group.nvls = ring_uses(source, shape, flow, topology, {r / (r - 1), out / (1 + 1 / r)});
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

// A ring of messages: each member's bytes go to the next one.
std::vector<LinkUse> neighbour_uses(const RankGroup& group, std::uint64_t flow,
                                    const Topology& topology)
{
    LinkShares uses(topology, flow);
    for (std::size_t i = 0; i < group.members.size(); ++i)
        uses.add(group.members[i], group.members[(i + 1) % group.members.size()], 1.0);
    return uses_of(uses);
}

bool exchanges_all_to_all(GroupKind kind)
{
    return kind == GroupKind::ep || kind == GroupKind::cp || kind == GroupKind::cp_a2a;
}

bool passes_round(GroupKind kind)
{
    return kind == GroupKind::cp || kind == GroupKind::cp_ring;
}

} // namespace

void bind_links(Binding& binding, const std::vector<const RankGroup*>& sources,
                const std::vector<GroupShape>& shapes, const Topology& topology)
{
    for (std::size_t i = 0; i < topology.link_count(); ++i)
        binding.links.push_back(ByteRate(
            static_cast<std::uint64_t>(topology.link(make_id<LinkId>(i)).capacity.value())));
    for (std::size_t g = 0; g < sources.size(); ++g) {
        Group& group = binding.groups[g];
        bind_sums(group, *sources[g], shapes[sources[g]->shape], g, topology);
        if (passes_round(group.kind))
            group.neighbours = neighbour_uses(*sources[g], g, topology);
        if (exchanges_all_to_all(group.kind))
            group.all_to_all = all_to_all_uses(*sources[g], g, topology);
    }
    for (Lane& lane : binding.lanes)
        for (Peer& peer : lane.peers) {
            LinkShares uses(topology, 0);
            uses.add(lane.rank, binding.lanes[peer.lane.value].rank, 1.0);
            peer.links = uses_of(uses);
        }
}

} // namespace trainyard
