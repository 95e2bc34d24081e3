#include "sim/study/own_steps/job_class.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

// Words, of which the later ones follow a comma.
class WordList {
public:
    void add(bool said, std::string_view words)
    {
        if (said)
            text += (text.empty() ? "" : ", ") + std::string(words);
    }

    std::string text;
};

std::string recipe_of(const SoftwareChoice& software, const Job& job)
{
    WordList recipe;
    const ExpertParallel& experts = job.strategy.experts;
    const bool spread = job.strategy.ep > 1;
    recipe.add(spread, to_name(experts.dispatcher.value_or(Dispatcher::all_to_all)));
    recipe.add(experts.capacity_factor.has_value(), "drops tokens");
    recipe.add(spread && job.strategy.overlap.ep, "exchanges overlapped");
    recipe.add(software.cuda_graphs,
               software.graphed_parts.empty() ? "graphs of the step" : "graphs of parts");
    recipe.add(software.fused_experts, "fused experts");
    return std::move(recipe.text);
}

std::string layout_of(const Job& job)
{
    const Strategy& strategy = job.strategy;
    WordList layout;
    layout.add(strategy.tp > 1, "tp");
    layout.add(strategy.pp > 1, "pp");
    layout.add(strategy.cp > 1, "cp");
    layout.add(strategy.ep > 1, "ep");
    layout.add(strategy.dp.value_or(1) > 1, fmt::format("dp with ZeRO {}", strategy.zero));
    layout.add(true, fmt::format("recompute {}", to_name(job.training.recompute)));
    return std::move(layout.text);
}

} // namespace

JobClass job_class(const Scenario& scenario, const Job& job)
{
    JobClass out{.model = job.model.name,
                 .framework = scenario.software.framework,
                 .precision = std::string(to_name(job.training.precision)),
                 .devices = job.world(),
                 .recipe = recipe_of(scenario.software, job),
                 .software = job.software.name,
                 .parameters = count_parameters(job.model).total,
                 .layout = layout_of(job)};
    if (const auto* model = std::get_if<Transformer>(&job.model.architecture)) {
        out.sequence_length = job.training.sequence_length;
        out.layers = model->layers;
        out.hidden = model->hidden;
    } else
        out.layers = static_cast<int>(std::get<LayerList>(job.model.architecture).layers.size());
    return out;
}
} // namespace trainyard
