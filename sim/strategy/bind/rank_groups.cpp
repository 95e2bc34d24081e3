#include "sim/strategy/bind/rank_groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

// Distinct shapes by value. A few numbers tell almost all apart; the rest is compared in full.
class ShapeTable {
public:
    explicit ShapeTable(const Topology& topology) : topology_(topology) {}

    std::uint32_t of(const std::vector<RankId>& members)
    {
        devices_.clear();
        for (const RankId rank : members)
            devices_.push_back(DeviceId{rank.value});
        const GroupShape shape = group_shape(topology_, devices_);
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
    std::vector<DeviceId> devices_;
    std::vector<GroupShape> shapes_;
    std::map<std::tuple<int, int, int, int>, std::vector<std::uint32_t>> index_;
};

void add_groups(Neighbourhood& out, std::size_t slot, GroupKind kind, const RankLayout& layout,
                ShapeTable& shapes)
{
    std::vector<std::uint32_t>& group_of = out.group_of[slot];
    for (std::uint32_t r = 0; r < group_of.size(); ++r) {
        if (group_of[r] != no_group)
            continue;
        std::vector<RankId> members = layout.members(kind, RankId{r});
        if (members.size() == 1)
            continue;
        for (const RankId member : members)
            group_of[member.value] = static_cast<std::uint32_t>(out.groups.size());
        const std::uint32_t shape = shapes.of(members);
        out.groups.push_back({slot, std::move(members), shape});
    }
}

RankPeers peers_of(const RankPlace& place, int stages, const RankLayout& layout, ShapeTable& shapes)
{
    RankPeers peers;
    const RankId self = layout.rank(place);
    for (const std::size_t side : {0, 1}) {
        RankPlace other = place;
        other.pp = (place.pp + (side == 0 ? stages - 1 : 1)) % stages;
        peers.rank[side] = layout.rank(other);
        peers.shape[side] =
            shapes.of({std::min(self, peers.rank[side]), std::max(self, peers.rank[side])});
    }
    return peers;
}

} // namespace

Neighbourhood neighbourhood(const Program& program, const Job& job, const Topology& topology)
{
    const RankLayout layout(job);
    const auto world = static_cast<std::size_t>(layout.world());
    ShapeTable shapes(topology);
    Neighbourhood out;
    for (std::size_t slot = 0; slot < program.groups.size(); ++slot) {
        out.group_of.emplace_back(world, no_group);
        add_groups(out, slot, program.groups[slot].kind, layout, shapes);
    }
    for (std::uint32_t r = 0; r < world; ++r) {
        const RankPlace place = layout.place(RankId{r});
        out.role.push_back(make_id<RoleId>(static_cast<std::size_t>(place.pp)));
        if (program.peer_slots > 0)
            out.peers.push_back(peers_of(place, job.strategy.pp, layout, shapes));
    }
    out.shapes = std::move(shapes).take();
    return out;
}

} // namespace trainyard
