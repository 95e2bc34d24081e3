#include "sim/strategy/bind/fabric_demand.h"

#include "sim/cost/collective_form.h"
#include "sim/strategy/bind/costs.h"
#include "sim/strategy/bind/links.h"
#include "sim/strategy/bind/role_transfers.h"
#include "sim/topology/topology_model.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace trainyard {

namespace {

// What goes one after the other, and what it is.
struct TransferClass {
    StreamId stream{};
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;

    auto operator<=>(const TransferClass&) const = default;
};

// Bytes per second leaving the busiest member.
using Rates = std::map<std::pair<TransferClass, TrafficPattern>, double>;

class TrunkDemand {
public:
    TrunkDemand(const Plan& plan, const Job& job, const Topology& topology, const CostModel& cost)
        : topology_(topology),
          near_(neighbourhood(plan.program, job, topology, FabricLimit::costs, 1.0)),
          costs_(bind_costs(plan, near_, cost, job))
    {
        for (const Role& role : plan.program.roles)
            transfers_.push_back(role_transfers(plan.program, role));
    }

    void add_groups()
    {
        for (std::size_t g = 0; g < near_.groups.size(); ++g) {
            const RankGroup& group = near_.groups[g];
            const GroupShape& shape = near_.shapes[group.shape];
            if (shape.domains == 1)
                continue;
            const Rates rates = rates_of(near_.role[group.members.front().value], Via::group,
                                         group.slot, group.shape);
            add(rates, [&](TrafficPattern pattern) {
                return group_uses(group, shape, pattern, g, topology_);
            });
        }
    }

    void add_messages()
    {
        for (std::size_t rank = 0; rank < near_.peers.size(); ++rank)
            for (std::size_t slot = 0; slot < near_.peers[rank].size(); ++slot) {
                const RankPeer& peer = near_.peers[rank][slot];
                if (near_.shapes[peer.shape].domains == 1)
                    continue;
                const Rates rates = rates_of(near_.role[rank], Via::peer, slot, peer.shape);
                add(rates, [&](TrafficPattern) {
                    return message_uses(make_id<RankId>(rank), peer.rank, topology_);
                });
            }
    }

    std::optional<FabricDemand> greatest() const
    {
        const std::vector<FabricLayer> layers = topology_.model().fabric_layers();
        std::optional<FabricDemand> most;
        double pairs = 0;
        for (const auto& [number, trunk] : trunks_) {
            FabricDemand demand = demand_of(trunk, layers[trunk.trunk.layer]);
            pairs = std::max(pairs, demand.pair_share);
            if (!most || demand.share > most->share)
                most = std::move(demand);
        }
        if (most)
            most->pair_share = pairs;
        return most;
    }

private:
    struct TrunkRates {
        Trunk trunk;
        std::map<TransferClass, double> asked; // bytes per second
    };

    Rates rates_of(RoleId role, Via via, std::size_t slot, std::uint32_t shape) const
    {
        Rates rates;
        for (const auto& [transfer, times] : transfers_[role.value]) {
            if (transfer.via != via || transfer.slot != slot)
                continue;
            const TransferCost& cost = costs_.transfers[shape][transfer.cost.value];
            if (cost.work.value == 0 || time_to_finish(cost.work, cost.ceiling) < cost.latency)
                continue;
            const TransferClass kind{transfer.stream, transfer.collective, transfer.group};
            double& rate = rates[{kind, cost.pattern}];
            rate = std::max(rate, static_cast<double>(cost.ceiling.value()));
        }
        return rates;
    }

    void add(const Rates& rates, const std::function<std::vector<LinkUse>(TrafficPattern)>& uses_of)
    {
        std::map<TrafficPattern, std::vector<LinkUse>> uses;
        for (const auto& [what, rate] : rates) {
            const auto [at, is_new] = uses.try_emplace(what.second);
            if (is_new)
                at->second = uses_of(what.second);
            for (const LinkUse& use : at->second)
                if (const std::optional<Trunk> trunk = topology_.model().trunk(use.link)) {
                    TrunkRates& rates_there = trunks_[trunk->number];
                    rates_there.trunk = *trunk;
                    rates_there.asked[what.first] += rate * use.coefficient / (1U << 16);
                }
        }
    }

    // Of pairs more than the trunk carries waits, as costs know.
    static FabricDemand demand_of(const TrunkRates& rates, const FabricLayer& layer)
    {
        FabricDemand demand{.layer = layer.name};
        std::map<StreamId, TrunkAsk> by_stream;
        for (const auto& [kind, asked] : rates.asked) {
            TrunkAsk& ask = by_stream[kind.stream];
            double share = asked / rates.trunk.capacity.value();
            if (is_pairwise(kind.collective)) {
                demand.pair_share = std::max(demand.pair_share, share);
                share = std::min(share, 1.0);
            }
            if (share > ask.share)
                ask = {kind.collective, kind.group, share};
        }
        std::map<std::pair<CollectiveKind, GroupKind>, double> by_kind;
        for (const auto& [stream, ask] : by_stream) {
            demand.share += ask.share;
            by_kind[{ask.collective, ask.group}] += ask.share;
        }
        for (const auto& [kind, share] : by_kind)
            demand.asks.push_back({kind.first, kind.second, share});
        demand.share = std::min(demand.share, layer.oversubscription);
        std::ranges::stable_sort(demand.asks, std::greater(), &TrunkAsk::share);
        return demand;
    }

    const Topology& topology_;
    Neighbourhood near_;
    CostTable costs_;
    std::vector<RoleTransfers> transfers_; // by role
    std::map<std::uint32_t, TrunkRates> trunks_;
};

} // namespace

std::optional<FabricDemand> fabric_demand(const Plan& plan, const Job& job,
                                          const Topology& topology, const CostModel& cost)
{
    if (!(topology.network(NodeId{0}).oversubscription > 1.0))
        return std::nullopt;
    TrunkDemand demand(plan, job, topology, cost);
    demand.add_groups();
    demand.add_messages();
    return demand.greatest();
}

} // namespace trainyard
