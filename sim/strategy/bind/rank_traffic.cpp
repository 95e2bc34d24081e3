#include "sim/strategy/bind/rank_traffic.h"

#include "sim/strategy/bind/links.h"
#include "sim/strategy/bind/trunks.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

// Which patterns the collectives of groups take.
class Patterns {
public:
    Patterns(const Program& program, const CostTable& costs)
        : costs_(costs), of_slot_(program.groups.size())
    {
        for (const Block& block : program.blocks)
            for (const Op& op : block.ops)
                if (op.kind == OpKind::collective)
                    of_slot_[op.group.value].insert(op.cost);
    }

    bool has(std::size_t slot, std::uint32_t shape, TrafficPattern pattern) const
    {
        const std::vector<TransferCost>& costs = costs_.transfers[shape];
        return std::ranges::any_of(of_slot_[slot], [&](CostId cost) {
            return cost.value < costs.size() && costs[cost.value].work.value > 0 &&
                   costs[cost.value].pattern == pattern;
        });
    }

private:
    const CostTable& costs_;
    std::vector<std::set<CostId>> of_slot_;
};

// Puts all uses and capacities on the trunks' carriers.
void carry_over_trunks(RankTraffic& traffic, const Trunks& trunks)
{
    if (!trunks.any())
        return;
    std::vector<ByteRate> sums(traffic.capacities.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[trunks.carrier(make_id<LinkId>(i)).value] += traffic.capacities[i];
    for (std::size_t i = 0; i < sums.size(); ++i)
        if (trunks.carrier(make_id<LinkId>(i)) == make_id<LinkId>(i))
            traffic.capacities[i] = sums[i];
    for (Group& group : traffic.groups) {
        for (std::vector<LinkUse>* const uses :
             {&group.ring, &group.tree, &group.nvls, &group.all_to_all, &group.neighbours})
            *uses = trunks.carried(*uses);
        for (Ways* const ways :
             {&group.ring_hops, &group.neighbour_hops, &group.pairs, &group.tree_ways})
            *ways = trunks.carried(*ways);
    }
    for (std::vector<std::vector<LinkUse>>& of_rank : traffic.messages)
        for (std::vector<LinkUse>& uses : of_rank)
            uses = trunks.carried(uses);
}

// What links have left for a time.
std::vector<LinkWindow> link_windows(const std::vector<ByteRate>& capacities,
                                     const Conditions& conditions, const Topology& topology,
                                     const Trunks& trunks)
{
    std::vector<LinkWindow> windows;
    std::map<LinkId, std::vector<TrunkLoss>> losses;
    for (const auto& [link, span] : conditions.links) {
        const LinkId carrier = trunks.carrier(link);
        if (trunks.links(carrier).size() > 1) {
            const Bandwidth capacity = topology.link(link).capacity;
            losses[carrier].push_back({span.from, span.until, capacity * (1 - span.share)});
            continue;
        }
        const double usual = static_cast<double>(capacities[link.value].value());
        windows.push_back({link, span.from, span.until,
                           ByteRate(static_cast<std::uint64_t>(usual * span.share))});
    }
    for (const auto& [carrier, of_links] : losses)
        for (const LinkWindow& window : trunk_windows(carrier, capacities[carrier.value], of_links))
            windows.push_back(window);
    std::ranges::stable_sort(windows, {}, &LinkWindow::begin);
    return windows;
}

} // namespace

RankTraffic rank_traffic(const Program& program, const Neighbourhood& neighbourhood,
                         const CostTable& costs, const Conditions& conditions,
                         const Topology& topology, LinkDetail detail)
{
    RankTraffic out;
    for (std::size_t i = 0; i < topology.link_count(); ++i) {
        const Link& link = topology.link(make_id<LinkId>(i));
        out.capacities.push_back(ByteRate(static_cast<std::uint64_t>(link.capacity.value())));
        out.kinds.push_back(link.kind);
    }
    const std::vector<std::uint32_t> flows = flow_numbers(neighbourhood);
    const Patterns patterns(program, costs);
    for (std::size_t g = 0; g < neighbourhood.groups.size(); ++g) {
        const RankGroup& source = neighbourhood.groups[g];
        Group& group = out.groups.emplace_back();
        group.kind = program.groups[source.slot].kind;
        bind_group(group, source, neighbourhood.shapes[source.shape], flows[g], {topology, detail},
                   [&](TrafficPattern pattern) {
                       return patterns.has(source.slot, source.shape, pattern);
                   });
    }
    out.messages.resize(neighbourhood.peers.size());
    for (std::size_t rank = 0; rank < neighbourhood.peers.size(); ++rank)
        for (const RankPeer& peer : neighbourhood.peers[rank])
            out.messages[rank].push_back(message_uses(make_id<RankId>(rank), peer.rank, topology));
    const Trunks trunks(topology);
    carry_over_trunks(out, trunks);
    out.windows = link_windows(out.capacities, conditions, topology, trunks);
    return out;
}

} // namespace trainyard
