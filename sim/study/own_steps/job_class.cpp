#include "sim/study/own_steps/job_class.h"

#include "sim/base/fields.h"

#include <algorithm>

namespace trainyard {
namespace {

// Jobs that differ by more than this in devices or in length are told nothing by one another.
constexpr double near = 4;

bool within(double a, double b)
{
    return a == b || (std::min(a, b) > 0 && std::max(a, b) <= near * std::min(a, b));
}

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

template <>
const FieldTable<JobClass>& fields_of<JobClass>()
{
    using J = JobClass;
    static const auto table =
        FieldTable<J>("job", "What own steps were measured of.")
            .field("model", &J::model, {.help = "its name", .required = true})
            .field("framework", &J::framework, {.help = "that ran it", .required = true})
            .field("precision", &J::precision, {.help = "number format", .required = true})
            .field("devices", &J::devices, {.help = "of the job", .min = 1, .required = true})
            .field("sequence_length", &J::sequence_length, {.help = "tokens", .min = 0})
            .field("recipe", &J::recipe,
                   {.help = "dispatcher of experts, dropped tokens, graphs, fused experts"});
    return table;
}

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

bool alike(const JobClass& a, const JobClass& b)
{
    return a.model == b.model && a.framework == b.framework && a.precision == b.precision &&
           a.recipe == b.recipe && within(a.devices, b.devices) &&
           within(static_cast<double>(a.sequence_length), static_cast<double>(b.sequence_length));
}

} // namespace trainyard
