// What needs a second simulation.

#include "sim/report/scaling.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

ScenarioFile with_replicas(const Outcome& outcome, const ScenarioFile& file, int replicas)
{
    Scenario scenario = file.scenario;
    scenario.strategy.dp = replicas;
    scenario.training.global_batch =
        outcome.job.training.global_batch / outcome.job.dp() * replicas;
    scenario.perturbations.clear();
    return scenario_in_memory(std::move(scenario), file.base,
                              fmt::format("{} with dp {}", file.file, replicas));
}

} // namespace

std::optional<Scaling> scaling_against_smallest(const Outcome& outcome, const ScenarioFile& file,
                                                Session& session)
{
    if (!outcome.memory.fits())
        return std::nullopt;
    const int gpus_per_replica = outcome.job.world() / outcome.job.dp();
    const Seconds step = to_seconds(outcome.result->step_time);
    for (const int replicas : smaller_replica_counts(outcome.job)) {
        const Checked<Outcome> smaller = session.simulate(with_replicas(outcome, file, replicas),
                                                          {.record = {},
                                                           .work = {},
                                                           .unfit = Unfit::refuse,
                                                           .memory = AllocatorView::fullest_stage});
        if (!smaller)
            continue;
        const Seconds base = to_seconds(smaller->result->step_time);
        return Scaling{gpus_per_replica * replicas, base, scaling_efficiency(base, step)};
    }
    return Scaling{outcome.job.world(), step, 1.0};
}

} // namespace trainyard
