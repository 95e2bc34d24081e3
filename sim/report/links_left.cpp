#include "sim/report/links_left.h"

#include "sim/strategy/bind/link_health.h"
#include "sim/strategy/rank_layout.h"
#include "sim/topology/perturbed_model.h"

#include <algorithm>
#include <array>
#include <set>

namespace trainyard {

namespace {

bool is_sound(const Topology& topology)
{
    return &topology.model().sound() == &topology.model();
}

// Where a device sends to out of its domain: its like in the first node of another one; none where
// there is one domain.
std::vector<DeviceId> partner_outside(DeviceId device, const Topology& topology)
{
    const Placement place = topology.model().placement(device);
    const std::vector<DeviceId> own = topology.devices_of(place.node);
    const auto index = static_cast<std::size_t>(std::ranges::find(own, device) - own.begin());
    for (int n = 0; n < topology.node_count(); ++n) {
        const std::vector<DeviceId> there =
            topology.devices_of(make_id<NodeId>(static_cast<std::size_t>(n)));
        if (!there.empty() && topology.model().placement(there.front()).domain != place.domain)
            return {there[std::min(index, there.size() - 1)]};
    }
    return {};
}

// Links of a kind next to the ranks, on the usual ways.
class UsedLinks {
public:
    UsedLinks(const Topology& sound, LinkKind kind) : sound_(sound), kind_(kind) {}

    void add(DeviceId device, DeviceId other)
    {
        const auto of_kind = [&](LinkId link) { return sound_.link(link).kind == kind_; };
        const bool many = sound_.model().nics_in_reach(NodeId{0}) > 1;
        for (std::uint64_t flow = 0; flow < (many ? 64U : 1U); ++flow) {
            const std::vector<LinkId> out = sound_.path(device, other, flow);
            if (const auto first = std::ranges::find_if(out, of_kind); first != out.end())
                links_.insert(*first);
            const std::vector<LinkId> back = sound_.path(other, device, flow);
            if (const auto last = std::find_if(back.rbegin(), back.rend(), of_kind);
                last != back.rend())
                links_.insert(*last);
        }
    }
    const std::set<LinkId>& links() const { return links_; }

private:
    const Topology& sound_;
    LinkKind kind_;
    std::set<LinkId> links_;
};

bool spans_domains(std::span<const RankId> ranks, const Topology& topology)
{
    const auto domain = [&](RankId rank) {
        return topology.model().placement(DeviceId{rank.value}).domain;
    };
    return std::ranges::any_of(ranks,
                               [&](RankId rank) { return domain(rank) != domain(ranks.front()); });
}

// Each once, those of several domains.
std::vector<std::vector<RankId>> groups_between_domains(const Outcome& outcome, GroupKind kind)
{
    const RankLayout layout(outcome.job);
    std::vector<bool> seen(static_cast<std::size_t>(layout.world()));
    std::vector<std::vector<RankId>> groups;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (seen[i])
            continue;
        std::vector<RankId> members = layout.members(kind, make_id<RankId>(i));
        for (const RankId member : members)
            seen[member.value] = true;
        if (spans_domains(members, *outcome.topology))
            groups.push_back(std::move(members));
    }
    return groups;
}

// Neighbours in the groups that are in different domains.
std::vector<std::array<RankId, 2>> pairs_between_domains(const Outcome& outcome, GroupKind kind)
{
    std::vector<std::array<RankId, 2>> pairs;
    for (const std::vector<RankId>& members : groups_between_domains(outcome, kind))
        for (std::size_t i = 0; i + 1 < members.size(); ++i)
            if (const std::array pair{members[i], members[i + 1]};
                spans_domains(pair, *outcome.topology))
                pairs.push_back(pair);
    return pairs;
}

} // namespace

std::vector<RankId> all_ranks(const Outcome& outcome)
{
    std::vector<RankId> ranks(static_cast<std::size_t>(outcome.job.world()));
    for (std::size_t i = 0; i < ranks.size(); ++i)
        ranks[i] = make_id<RankId>(i);
    return ranks;
}

std::vector<std::vector<DeviceId>> first_nodes(const Topology& topology)
{
    std::vector<std::vector<DeviceId>> nodes;
    for (int n = 0; n < topology.node_count() && nodes.size() < 2; ++n)
        if (std::vector<DeviceId> there =
                topology.devices_of(make_id<NodeId>(static_cast<std::size_t>(n)));
            !there.empty())
            nodes.push_back(std::move(there));
    return nodes;
}

double share_left(const Outcome& outcome, LinkKind kind)
{
    const Topology& now = *outcome.topology;
    if (is_sound(now))
        return 1.0;
    const Topology sound = in_good_state(now);
    UsedLinks used(sound, kind);
    const std::vector<RankId> ranks = all_ranks(outcome);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const DeviceId device{ranks[i].value};
        const DeviceId next{ranks[(i + 1) % ranks.size()].value};
        if (sound.model().placement(device).domain == sound.model().placement(next).domain) {
            used.add(device, next);
            used.add(next, device);
        }
        for (const DeviceId partner : partner_outside(device, sound))
            used.add(device, partner);
    }
    double sum = 0;
    for (const LinkId link : used.links())
        sum += now.link(link).capacity / sound.link(link).capacity;
    return used.links().empty() ? 1.0 : sum / static_cast<double>(used.links().size());
}

double share_left_between_domains(const Outcome& outcome, CollectiveKind collective,
                                  GroupKind group)
{
    const Topology& topology = *outcome.topology;
    if (is_sound(topology))
        return 1.0;
    const std::vector<LinkHealth> all =
        collective == CollectiveKind::send_receive
            ? pair_health(pairs_between_domains(outcome, group), topology, Together::siblings)
            : ring_health(groups_between_domains(outcome, group), topology, Together::siblings);
    double times = 0; // of those of sound links
    for (const LinkHealth& health : all)
        times += 1 / health.across;
    return all.empty() ? 1.0 : static_cast<double>(all.size()) / times;
}

LinkHealth health_of_world(const Outcome& outcome)
{
    const std::vector<std::vector<RankId>> world{all_ranks(outcome)};
    return ring_health(world, *outcome.topology, Together::siblings).front();
}

LinkHealth health_between_nodes(const Outcome& outcome)
{
    const std::vector<std::vector<DeviceId>> nodes = first_nodes(*outcome.topology);
    std::vector<std::array<RankId, 2>> pairs;
    for (std::size_t i = 0; i < std::min(nodes.at(0).size(), nodes.at(1).size()); ++i)
        pairs.push_back({RankId{nodes[0][i].value}, RankId{nodes[1][i].value}});
    LinkHealth worst;
    for (const LinkHealth& health : pair_health(pairs, *outcome.topology, Together::siblings)) {
        worst.inside = std::min(worst.inside, health.inside);
        worst.across = std::min(worst.across, health.across);
        worst.inside_latency = std::max(worst.inside_latency, health.inside_latency);
        worst.across_latency = std::max(worst.across_latency, health.across_latency);
    }
    return worst;
}

} // namespace trainyard
