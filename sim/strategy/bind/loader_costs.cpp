#include "sim/strategy/bind/loader_costs.h"

#include "sim/topology/topology_model.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

bool loads(const Plan& plan, const Role& role)
{
    const auto& blocks = plan.program.blocks;
    return std::any_of(role.order.begin(), role.order.end(), [&](const BlockUse& use) {
        const std::vector<Op>& ops = blocks[use.block.value].ops;
        return std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
            return (op.kind == OpKind::copy || op.kind == OpKind::host) &&
                   plan.compute[op.cost.value].loader != LoaderPart::none;
        });
    });
}

LoaderPlacement placement_of(const Plan& plan, const Job& job, const Topology& topology)
{
    std::vector<bool> role_loads;
    for (const Role& role : plan.program.roles)
        role_loads.push_back(loads(plan, role));
    const RankLayout layout(job);
    std::map<NodeId, int> ranks;
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(layout.world()); ++r)
        if (role_loads[static_cast<std::size_t>(layout.place(RankId{r}).pp)])
            ++ranks[topology.model().placement(DeviceId{r}).node];
    LoaderPlacement out;
    for (const auto& [node, count] : ranks)
        out.ranks_per_node = std::max(out.ranks_per_node, count);
    out.nodes = std::max(static_cast<int>(ranks.size()), 1);
    return out;
}

Seconds time_of(LoaderPart part, const LoaderRates& rates, double samples)
{
    switch (part) {
    case LoaderPart::read:
        return Seconds(samples / rates.storage);
    case LoaderPart::make:
        return Seconds(samples / rates.workers);
    case LoaderPart::read_and_make:
        return load_time_without_workers(rates, samples);
    case LoaderPart::copy:
        return Seconds(samples / rates.copy);
    case LoaderPart::wait:
    case LoaderPart::none:
        break;
    }
    return Seconds(0);
}

} // namespace

LoaderRates loader_rates(const Plan& plan, const Job& job, const Topology& topology,
                         const CostModel& cost)
{
    return loader_rates(job, placement_of(plan, job, topology), cost);
}

void bind_loader(CostTable& table, const Plan& plan, const Job& job, const Topology& topology,
                 const CostModel& cost)
{
    if (!job.data)
        return;
    const LoaderRates rates = loader_rates(plan, job, topology, cost);
    const auto samples = static_cast<double>(job.training.micro_batch);
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        if (plan.compute[i].loader != LoaderPart::none)
            table.compute[i] = to_sim_time(time_of(plan.compute[i].loader, rates, samples));
}

} // namespace trainyard
