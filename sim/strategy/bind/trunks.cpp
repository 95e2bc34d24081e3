#include "sim/strategy/bind/trunks.h"

#include "sim/topology/perturbed_model.h"

#include <map>
#include <unordered_map>

namespace trainyard {

bool spreads_flows(const Topology& topology)
{
    const auto* const perturbed = dynamic_cast<const PerturbedModel*>(&topology.model());
    return perturbed == nullptr || !perturbed->has_collisions();
}

Trunks::Trunks(const Topology& topology)
{
    std::unordered_map<std::uint32_t, LinkId> first;
    for (std::size_t i = 0; i < topology.link_count(); ++i) {
        const auto link = make_id<LinkId>(i);
        const std::optional<Trunk> trunk = topology.model().trunk(link);
        carrier_.push_back(trunk ? first.try_emplace(trunk->number, link).first->second : link);
    }
}

std::vector<LinkUse> Trunks::spread(std::span<const LinkUse> uses) const
{
    std::map<LinkId, std::uint32_t> sums;
    for (const LinkUse& use : uses)
        sums[carrier(use.link)] += use.coefficient;
    std::vector<LinkUse> out;
    for (const auto& [link, coefficient] : sums)
        out.push_back({link, coefficient});
    return out;
}

Ways Trunks::spread(const Ways& ways) const
{
    Ways out;
    for (std::size_t way = 0; way < ways.size(); ++way)
        out.add(spread(ways[way]));
    return out;
}

void spread_over_trunks(Binding& binding, const Topology& topology)
{
    if (topology.model().fabric_layers().empty() || !spreads_flows(topology))
        return;
    const Trunks trunks(topology);
    for (std::size_t i = 0; i < topology.link_count(); ++i)
        if (const auto link = make_id<LinkId>(i); trunks.carrier(link) == link)
            if (const std::optional<Trunk> trunk = topology.model().trunk(link))
                binding.links[i] = ByteRate(static_cast<std::uint64_t>(trunk->capacity.value()));
    for (Group& group : binding.groups) {
        for (std::vector<LinkUse>* const uses :
             {&group.ring, &group.tree, &group.nvls, &group.all_to_all, &group.neighbours})
            *uses = trunks.spread(*uses);
        for (Ways* const ways :
             {&group.ring_hops, &group.neighbour_hops, &group.pairs, &group.tree_ways})
            *ways = trunks.spread(*ways);
    }
    for (Lane& lane : binding.lanes)
        for (Peer& peer : lane.peers)
            peer.links = trunks.spread(peer.links);
}

} // namespace trainyard
