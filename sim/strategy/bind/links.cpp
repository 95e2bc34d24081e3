#include "sim/strategy/bind/links.h"

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

// Members of each NVLink domain, in group order.
std::vector<std::vector<RankId>> by_domain(const std::vector<RankId>& members,
                                           const Topology& topology)
{
    std::map<DomainId, std::vector<RankId>> domains;
    for (const RankId member : members)
        domains[topology.device(DeviceId{member.value}).domain].push_back(member);
    std::vector<std::vector<RankId>> out;
    for (auto& [domain, inside] : domains)
        out.push_back(std::move(inside));
    return out;
}

std::vector<LinkUse> ring_uses(const RankGroup& group, std::uint64_t flow, const Topology& topology)
{
    const std::vector<std::vector<RankId>> domains = by_domain(group.members, topology);
    Uses uses(topology, flow);
    for (std::size_t d = 0; d < domains.size(); ++d) {
        const std::vector<RankId>& here = domains[d];
        const std::vector<RankId>& there = domains[(d + 1) % domains.size()];
        const auto r = static_cast<double>(here.size());
        const double inside = domains.size() == 1 ? 1.0 : (r - 1) / r;
        for (std::size_t i = 0; i < here.size(); ++i) {
            uses.add(here[i], here[(i + 1) % here.size()], inside);
            if (domains.size() > 1)
                uses.add(here[i], there[i % there.size()], 1 / r);
        }
    }
    return uses.take();
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
                const Topology& topology)
{
    for (std::size_t i = 0; i < topology.link_count(); ++i)
        binding.links.push_back(ByteRate(
            static_cast<std::uint64_t>(topology.link(make_id<LinkId>(i)).capacity.value())));
    for (std::size_t g = 0; g < sources.size(); ++g) {
        Group& group = binding.groups[g];
        group.ring = ring_uses(*sources[g], g, topology);
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
