#include "sim/study/own_steps/job_class.h"

namespace trainyard {
namespace {

std::string recipe_of(const SoftwareChoice& software, const Job& job)
{
    std::string recipe;
    const auto add = [&](bool said, std::string_view words) {
        if (said)
            recipe += (recipe.empty() ? "" : ", ") + std::string(words);
    };
    const ExpertParallel& experts = job.strategy.experts;
    const bool spread = job.strategy.ep > 1;
    add(spread, to_name(experts.dispatcher.value_or(Dispatcher::all_to_all)));
    add(experts.capacity_factor.has_value(), "drops tokens");
    add(spread && job.strategy.overlap.ep, "exchanges overlapped");
    add(software.cuda_graphs,
        software.graphed_parts.empty() ? "graphs of the step" : "graphs of parts");
    add(software.fused_experts, "fused experts");
    return recipe;
}

} // namespace

JobClass job_class(const Scenario& scenario, const Job& job)
{
    return {.model = job.model.name,
            .framework = scenario.software.framework,
            .precision = std::string(to_name(job.training.precision)),
            .devices = job.world(),
            .sequence_length =
                job.model.is_transformer() ? job.training.sequence_length : std::int64_t{0},
            .recipe = recipe_of(scenario.software, job)};
}
} // namespace trainyard
