#include "sim/strategy/lower/lower.h"

#include "sim/strategy/lower/stage_lowering.h"

#include <cassert>

namespace trainyard {

Plan lower(const Job& job, const JobWork& work)
{
    const PipelineShape shape{job.strategy.pp, job.strategy.vpp,
                              static_cast<int>(job.micro_batches())};
    const PipelineSchedule* schedule = find_schedule(job.strategy.schedule);
    assert(schedule != nullptr && schedule->refusal(shape).empty());
    std::vector<std::vector<Pass>> passes;
    for (int stage = 0; stage < shape.stages; ++stage)
        passes.push_back(schedule->passes(shape, stage));
    const std::vector<StageExchanges> exchanges = place_exchanges(
        shape, passes, *job.strategy.overlap.pp ? Posting::ahead : Posting::when_needed);

    PlanBuilder plan;
    if (shape.stages > 1)
        plan.has_peers();
    LayerCatalog catalog(plan, job, work);
    for (int stage = 0; stage < shape.stages; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        lower_stage(plan, catalog, {job, work, stage, passes[s], exchanges[s]});
    }
    return std::move(plan).finish();
}

} // namespace trainyard
