#include "sim/study/sensitivity/scaling.h"

#include "sim/study/session.h"

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

double scaling_efficiency(Seconds base_step, Seconds step)
{
    return step.value() > 0 ? base_step / step : 0.0;
}

std::vector<int> smaller_replica_counts(const Job& job)
{
    std::vector<int> counts;
    const int experts = job.strategy.ep * job.strategy.etp;
    for (int replicas = 1; replicas < job.dp(); ++replicas)
        if (job.dp() % replicas == 0 && job.strategy.tp * job.strategy.cp * replicas % experts == 0)
            counts.push_back(replicas);
    return counts;
}

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
