#include "sim/strategy/bind/links.h"

#include "sim/strategy/bind/ring.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr double whole = 1U << 16;

// Shares of the bytes leaving a member, summed by link.
class Uses {
public:
    Uses(const Topology& topology, std::uint64_t flow) : topology_(topology), flow_(flow) {}

    void add(RankId from, RankId to, double share)
    {
        if (from == to || share <= 0)
            return;
        for (const LinkId link : topology_.path(DeviceId{from.value}, DeviceId{to.value}, flow_))
            shares_[link] += share;
    }
    std::vector<LinkUse> take() const
    {
        std::vector<LinkUse> uses;
        for (const auto& [link, share] : shares_)
            if (const long coefficient = std::lround(share * whole); coefficient > 0)
                uses.push_back({link, static_cast<std::uint32_t>(coefficient)});
        return uses;
    }

private:
    const Topology& topology_;
    std::uint64_t flow_;
    std::map<LinkId, double> shares_;
};

// Per byte leaving a member, `inside` times a ring's bytes stay in its domain and `across` times a
// ring's leave it.
struct Weights {
    double inside = 1.0;
    double across = 1.0;
};

std::vector<LinkUse> ring_uses(const RankGroup& group, std::uint64_t flow, const Topology& topology,
                               Weights weights)
{
    Uses uses(topology, flow);
    for (const RingHop& hop : ring_hops(group.members, topology))
        uses.add(hop.from, hop.to, hop.share * (hop.across ? weights.across : weights.inside));
    return uses.take();
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
    group.ring = ring_uses(source, flow, topology, {});
    if (shape.domains == 1 || shape.ranks_per_domain == 1) {
        group.tree = group.nvls = group.ring;
        return;
    }
    const double twice = bus_factor(CollectiveKind::all_reduce, shape.ranks);
    const double out = leaves_once(shape) ? 1.0 : twice;
    const double r = shape.ranks_per_domain;
    group.tree = ring_uses(source, flow, topology, {1.0, out / twice});
    if (shape.in_switch_reduction)
        group.nvls = ring_uses(source, flow, topology, {r / (r - 1), out / (1 + 1 / r)});
}

std::vector<LinkUse> all_to_all_uses(const RankGroup& group, std::uint64_t flow,
                                     const Topology& topology)
{
    Uses uses(topology, flow);
    const double share = 1.0 / static_cast<double>(group.members.size() - 1);
    for (const RankId from : group.members)
        for (const RankId to : group.members)
            uses.add(from, to, share);
    return uses.take();
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
        if (group.kind == GroupKind::ep) // nobody else exchanges all to all
            group.all_to_all = all_to_all_uses(*sources[g], g, topology);
    }
    for (Lane& lane : binding.lanes)
        for (Peer& peer : lane.peers)
            for (const LinkId link :
                 topology.path(DeviceId{lane.rank.value},
                               DeviceId{binding.lanes[peer.lane.value].rank.value}))
                peer.links.push_back({.link = link});
}

} // namespace trainyard
