#include "sim/strategy/lower/lower.h"

#include "sim/strategy/lower/single_process.h"
#include "sim/strategy/lower/stage_lowering.h"
#include "sim/strategy/stages.h"

namespace trainyard {

Plan lower(const Job& job, const JobWork& work)
{
    if (is_single_process(job))
        return lower_single_process(job, work);
    const StagePlacement placement = placement_of(job);
    const std::vector<std::vector<Pass>> passes = passes_of(job);
    const std::vector<StageExchanges> exchanges = place_exchanges(
        placement, passes, *job.strategy.overlap.pp ? Posting::ahead : Posting::when_needed);
    const std::vector<std::vector<int>> peers = neighbours(placement);

    PlanBuilder plan;
    if (placement.devices > 1)
        plan.peer_slots(peers.front().size());
    if (has_uneven_experts(job))
        plan.has_expert_loads();
    LayerCatalog catalog(plan, job, work);
    for (int stage = 0; stage < placement.devices; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        lower_stage(plan, catalog,
                    {job, work, placement, stage, passes[s], exchanges[s], peers[s]});
    }
    return std::move(plan).finish();
}

} // namespace trainyard
