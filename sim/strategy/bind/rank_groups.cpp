#include "sim/strategy/bind/rank_groups.h"

#include "sim/strategy/bind/fabric_share.h"
#include "sim/strategy/bind/link_health.h"
#include "sim/strategy/job.h"
#include "sim/strategy/stages.h"
#include "sim/topology/perturbed_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

// Distinct shapes by value. A few numbers tell almost all apart; the rest is compared in full.
class ShapeTable {
public:
    explicit ShapeTable(const Topology& topology) : topology_(topology) {}

    std::uint32_t of(std::span<const RankId> members, const FabricPart& fabric,
                     const LinkHealth& health)
    {
        GroupShape shape = group_shape(topology_, devices_of(members));
        shape.health = health;
        shape.fabric_share = fabric.ring_share;
        shape.network.oversubscription = fabric.oversubscription;
        std::vector<std::uint32_t>& alike =
            index_[{shape.ranks, shape.domains, shape.nodes, shape.stride}];
        for (const std::uint32_t i : alike)
            if (shapes_[i] == shape)
                return i;
        alike.push_back(static_cast<std::uint32_t>(shapes_.size()));
        shapes_.push_back(shape);
        return alike.back();
    }
    std::vector<GroupShape> take() && { return std::move(shapes_); }

private:
    const Topology& topology_;
    std::vector<GroupShape> shapes_;
    std::map<std::tuple<int, int, int, int>, std::vector<std::uint32_t>> index_;
};

// The groups of a kind, numbered from `first` in `group_of` (by rank).
std::vector<std::vector<RankId>> groups_of(GroupKind kind, const RankLayout& layout,
                                           std::size_t first, std::vector<std::uint32_t>& group_of)
{
    std::vector<std::vector<RankId>> groups;
    for (std::uint32_t r = 0; r < group_of.size(); ++r) {
        if (group_of[r] != no_group)
            continue;
        std::vector<RankId> members = layout.members(kind, RankId{r});
        if (members.size() == 1)
            continue;
        for (const RankId member : members)
            group_of[member.value] = static_cast<std::uint32_t>(first + groups.size());
        groups.push_back(std::move(members));
    }
    return groups;
}

// What the fabric leaves to groups and pairs, where that is a matter of costs: a share of the sound
// one, and by its health what is lost of that. The narrowest place of a way counts once.
class Fabric {
public:
    Fabric(const Topology& topology, FabricLimit limit, double pair_ratio)
        : topology_(topology),
          pair_ratio_(pair_ratio),
          sound_(in_good_state(topology)),
          thin_(limit == FabricLimit::costs && topology.network(NodeId{0}).oversubscription > 1.0),
          together_(limit == FabricLimit::costs ? Together::siblings : Together::nobody)
    {}

    std::vector<LinkHealth> health_of_rings(const std::vector<std::vector<RankId>>& groups) const
    {
        return ring_health(groups, topology_, together_);
    }
    std::vector<LinkHealth> health_of_pairs(std::span<const std::array<RankId, 2>> pairs) const
    {
        return pair_health(pairs, topology_, together_);
    }
    std::vector<FabricPart> parts_of(const std::vector<std::vector<RankId>>& groups) const
    {
        if (!thin_)
            return std::vector<FabricPart>(groups.size());
        std::vector<FabricPart> parts = fabric_parts(groups, sound_);
        for (FabricPart& part : parts)
            part.oversubscription = std::min(part.oversubscription, pair_ratio_);
        return parts;
    }
    FabricPart part_of_pair(RankId from, RankId to) const
    {
        return {{},
                thin_ ? std::min(oversubscription_between(from, to, sound_), pair_ratio_) : 1.0};
    }

private:
    const Topology& topology_;
    double pair_ratio_;
    Topology sound_;
    bool thin_;
    Together together_;
};

// Peers by rank; their shapes follow (shape_pairs).
std::vector<RankPeer> peers_of(const RankPlace& place, const std::vector<int>& stages,
                               const RankLayout& layout)
{
    std::vector<RankPeer> peers;
    for (const int stage : stages) {
        RankPlace other = place;
        other.pp = stage;
        peers.push_back({layout.rank(other), 0});
    }
    return peers;
}

// Of a process with all replicas: device 0 exchanges messages with each of the others, and they
// with device 0, whatever their slot.
void join_replicas(Neighbourhood& out, std::uint32_t ranks)
{
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.role.push_back(RoleId{rank == 0 ? 0U : 1U});
        std::vector<RankPeer>& peers = out.peers.emplace_back();
        for (std::uint32_t slot = 0; slot + 1 < ranks; ++slot)
            peers.push_back({RankId{rank == 0 ? slot + 1 : 0}, 0});
    }
}

// A pair has one shape, whoever sends: of its worse direction. Peers are so of each other.
void shape_pairs(Neighbourhood& out, const Fabric& fabric, ShapeTable& shapes)
{
    const auto pair_of = [](std::size_t self, RankId other) {
        const auto rank = make_id<RankId>(self);
        return std::array{std::min(rank, other), std::max(rank, other)};
    };
    std::vector<std::array<RankId, 2>> pairs;
    for (std::size_t self = 0; self < out.peers.size(); ++self) {
        const auto first = static_cast<std::ptrdiff_t>(pairs.size());
        for (const RankPeer& peer : out.peers[self])
            if (peer.rank >= make_id<RankId>(self))
                pairs.push_back(pair_of(self, peer.rank));
        std::sort(pairs.begin() + first, pairs.end());
    }
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const std::vector<LinkHealth> health = fabric.health_of_pairs(pairs);
    std::vector<std::uint32_t> shape_of(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i)
        shape_of[i] = shapes.of(pairs[i], fabric.part_of_pair(pairs[i][0], pairs[i][1]), health[i]);
    for (std::size_t self = 0; self < out.peers.size(); ++self)
        for (RankPeer& peer : out.peers[self]) {
            const auto found = std::ranges::lower_bound(pairs, pair_of(self, peer.rank));
            peer.shape = shape_of[static_cast<std::size_t>(found - pairs.begin())];
        }
}

} // namespace

std::vector<std::uint32_t> flow_numbers(const Neighbourhood& neighbourhood)
{
    std::vector<std::uint32_t> numbers(neighbourhood.groups.size(), no_group);
    std::uint32_t next = 0;
    for (std::size_t rank = 0; rank < neighbourhood.role.size(); ++rank)
        for (const std::vector<std::uint32_t>& group_of : neighbourhood.group_of)
            if (const std::uint32_t group = group_of[rank];
                group != no_group && numbers[group] == no_group)
                numbers[group] = next++;
    return numbers;
}

std::vector<DeviceId> devices_of(std::span<const RankId> ranks)
{
    std::vector<DeviceId> devices;
    devices.reserve(ranks.size());
    for (const RankId rank : ranks)
        devices.push_back(DeviceId{rank.value});
    return devices;
}

Neighbourhood neighbourhood(const Program& program, const Job& job, const Topology& topology,
                            FabricLimit limit, double pair_ratio)
{
    const RankLayout layout(job);
    const auto world = static_cast<std::size_t>(layout.world());
    const Fabric fabric(topology, limit, pair_ratio);
    ShapeTable shapes(topology);
    Neighbourhood out;
    for (std::size_t slot = 0; slot < program.groups.size(); ++slot) {
        std::vector<std::uint32_t>& group_of = out.group_of.emplace_back(world, no_group);
        std::vector<std::vector<RankId>> groups =
            groups_of(program.groups[slot].kind, layout, out.groups.size(), group_of);
        const std::vector<FabricPart> parts = fabric.parts_of(groups);
        const std::vector<LinkHealth> health = fabric.health_of_rings(groups);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const std::uint32_t shape = shapes.of(groups[g], parts[g], health[g]);
            out.groups.push_back({slot, std::move(groups[g]), shape});
        }
    }
    if (is_single_process(job)) {
        join_replicas(out, static_cast<std::uint32_t>(world));
        shape_pairs(out, fabric, shapes);
        out.shapes = std::move(shapes).take();
        return out;
    }
    const std::vector<std::vector<int>> stages = neighbours(placement_of(job));
    for (std::uint32_t r = 0; r < world; ++r) {
        const RankPlace place = layout.place(RankId{r});
        out.role.push_back(make_id<RoleId>(static_cast<std::size_t>(place.pp)));
        if (program.peer_slots > 0)
            out.peers.push_back(
                peers_of(place, stages[static_cast<std::size_t>(place.pp)], layout));
    }
    shape_pairs(out, fabric, shapes);
    out.shapes = std::move(shapes).take();
    return out;
}

} // namespace trainyard
