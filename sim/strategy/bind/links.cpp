#include "sim/strategy/bind/links.h"

#include "sim/strategy/bind/ring.h"
#include "sim/topology/topology_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr double whole = 1U << 16;

// Channels of a transfer where a device has several NICs: each takes a path of its own.
constexpr std::uint64_t channels = 64; // enough to meet every NIC

// Shares of the bytes leaving a member, summed by link.
class Uses {
public:
    Uses(const Topology& topology, std::uint64_t flow)
        : topology_(topology),
          flow_(flow),
          many_nics_(topology.network(NodeId{0}).nics >
                     static_cast<int>(topology.devices_of(NodeId{0}).size()))
    {}

    void add(RankId from, RankId to, double share)
    {
        if (from == to || share <= 0)
            return;
        const DeviceId a{from.value};
        const DeviceId b{to.value};
        if (many_nics_ &&
            topology_.model().placement(a).node != topology_.model().placement(b).node)
            return add_by_channels(a, b, share);
        for (const LinkId link : topology_.path(a, b, flow_))
            shares_[link] += share;
    }
    // Bytes that a member sends to the others of its domain over direct NVLinks: every link takes
    // its part, since rings are laid over all of them.
    void add_over_wires(RankId from, std::span<const RankId> domain, double share)
    {
        std::map<LinkId, double> wires;
        double sum = 0;
        for (const RankId to : domain) {
            const std::vector<LinkId> path =
                topology_.path(DeviceId{from.value}, DeviceId{to.value}, flow_);
            if (path.size() == 1)
                sum += wires[path.front()] = topology_.link(path.front()).capacity.value();
        }
        for (const auto& [wire, capacity] : wires)
            shares_[wire] += share * capacity / sum;
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
    // The library spreads channels evenly over the NICs at both ends; switches choose by hash.
    void add_by_channels(DeviceId from, DeviceId to, double share)
    {
        std::array<std::set<LinkId>, 2> nics; // out, in
        for (std::uint64_t channel = 0; channel < channels; ++channel) {
            std::size_t end = 0;
            for (const LinkId link : topology_.path(from, to, flow_ * channels + channel))
                if (topology_.link(link).kind == LinkKind::nic)
                    nics[end++].insert(link);
                else
                    shares_[link] += share / static_cast<double>(channels);
        }
        for (const std::set<LinkId>& set : nics)
            for (const LinkId nic : set)
                shares_[nic] += share / static_cast<double>(set.size());
    }

    const Topology& topology_;
    std::uint64_t flow_;
    bool many_nics_;
    std::map<LinkId, double> shares_;
};

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
    Uses uses(topology, flow);
    for (const RingHop& hop : ring_hops(group.members, topology))
        if (hop.across)
            uses.add(hop.from, hop.to, hop.share * weights.across);
        else if (wired(shape))
            uses.add_over_wires(hop.from, members_beside(hop.from, group, topology),
                                hop.share * weights.inside);
        else
            uses.add(hop.from, hop.to, hop.share * weights.inside);
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
    Uses uses(topology, flow);
    const double share = 1.0 / static_cast<double>(group.members.size() - 1);
    for (const RankId from : group.members)
        for (const RankId to : group.members)
            uses.add(from, to, share);
    return uses.take();
}

// A ring of messages: each member's bytes go to the next one.
std::vector<LinkUse> neighbour_uses(const RankGroup& group, std::uint64_t flow,
                                    const Topology& topology)
{
    Uses uses(topology, flow);
    for (std::size_t i = 0; i < group.members.size(); ++i)
        uses.add(group.members[i], group.members[(i + 1) % group.members.size()], 1.0);
    return uses.take();
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
            Uses uses(topology, 0);
            uses.add(lane.rank, binding.lanes[peer.lane.value].rank, 1.0);
            peer.links = uses.take();
        }
}

} // namespace trainyard
