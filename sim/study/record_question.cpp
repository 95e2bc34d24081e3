#include "sim/study/record_question.h"

#include "sim/study/inputs.h"
#include "sim/study/record_scenario.h"

#include <fmt/core.h>

namespace trainyard {

std::string first_problem(const Problems& problems)
{
    for (const Diagnostic& problem : problems)
        if (problem.severity == Severity::error)
            return problem.pointer.empty() ? problem.message
                                           : problem.message + " at " + problem.pointer;
    return "the scenario could not be built";
}

namespace {

// The dimensions in use, e.g. "fsdp+tp"; "single" on one GPU.
std::string strategy_name(const Strategy& strategy)
{
    std::string name;
    const auto add = [&](bool used, std::string_view word) {
        if (used)
            name += (name.empty() ? "" : "+") + std::string(word);
    };
    const bool replicated = strategy.dp.value_or(1) > 1;
    add(strategy.zero == 3 && replicated, "fsdp");
    add(strategy.tp > 1, "tp");
    add(strategy.pp > 1, "pp");
    add(strategy.cp > 1, "cp");
    add(strategy.ep > 1, "ep");
    add(name.empty() && replicated, "dp");
    return name.empty() ? "single" : name;
}

ScenarioFile file_of(const Scenario& scenario, const std::string& id)
{
    return scenario_in_memory(scenario, {}, id);
}

// A run that was measured did fit, and the estimate is good to about a tenth: recompute is assumed
// only where it exceeds the device by more.
bool may_fit(const MemoryEstimate& memory)
{
    constexpr double doubt = 1.1;
    return static_cast<double>(memory.peak().value()) <=
           doubt * static_cast<double>(memory.capacity.value());
}

bool states_fit(const MemoryEstimate& memory)
{
    double states = 0;
    for (const char* kind : {"parameters", "gradients", "optimizer"})
        if (const auto found = memory.stages[0].kinds.find(kind);
            found != memory.stages[0].kinds.end())
            states += static_cast<double>(found->second.value());
    return states <= 0.95 * static_cast<double>(memory.capacity.value());
}

// Sets the smallest number of recomputed layers that fits, if any does; else all. What it chose
// goes to the assumptions.
Problems fit_recompute(Session& session, RecordScenario& made)
{
    Training& training = made.scenario.training;
    const auto memory_with = [&](int layers) {
        training.recompute = layers == 0 ? Recompute::none : Recompute::full;
        training.recompute_layers = layers == 0 ? std::nullopt : std::optional<int>(layers);
        return session.memory(file_of(made.scenario, made.scenario.description));
    };
    Checked<MemoryEstimate> none = memory_with(0);
    if (!none)
        return none.error();
    // No recompute makes room for states.
    Strategy& strategy = made.scenario.strategy;
    if (strategy.zero <= 1 && strategy.pp == 1 && *strategy.dp > 1 && !states_fit(*none)) {
        strategy.zero = 3;
        made.assumptions.push_back("model states do not fit a GPU: sharded as FSDP does");
        none = memory_with(0);
        if (!none)
            return none.error();
    }
    if (may_fit(*none)) {
        made.assumptions.push_back("recompute not stated: none (fits)");
        return {};
    }
    int too_few = 0; // does not fit
    int enough = made.layers_per_device;
    while (enough - too_few > 1) {
        const int middle = (too_few + enough) / 2;
        const Checked<MemoryEstimate> memory = memory_with(middle);
        if (!memory)
            return memory.error();
        (may_fit(*memory) ? enough : too_few) = middle;
    }
    // A policy that recomputes parts of all layers does about half of the work again.
    const int layers = made.recompute_parts ? (enough + 1) / 2 : enough;
    if (const Checked<MemoryEstimate> chosen = memory_with(layers); !chosen)
        return chosen.error();
    made.assumptions.push_back(
        made.recompute_parts
            ? fmt::format("recompute not stated: about half of {} of {} layers, to fit", enough,
                          made.layers_per_device)
            : fmt::format("recompute not stated: {} of {} layers, to fit", enough,
                          made.layers_per_device));
    return {};
}

// The record's own scenario.
RecordQuestion own_question(const MeasuredRecord& record)
{
    RecordQuestion out;
    out.skipped = why_not_scored(record);
    if (!out.skipped.empty())
        return out;
    Checked<ScenarioFile> file = scenario_from(record.scenario, record.file);
    if (!file) {
        out.skipped = first_problem(file.error());
        return out;
    }
    out.file = std::move(*file);
    out.strategy = strategy_name(out.file.scenario.strategy);
    return out;
}

// By rules on what the record says.
RecordQuestion ruled_question(const MeasuredRecord& record, Session& session)
{
    RecordQuestion out;
    auto made = scenario_of(record);
    if (!made) {
        out.skipped = made.error();
        return out;
    }
    out.strategy = strategy_name(made->scenario.strategy);
    if (made->recompute_to_fit)
        if (const Problems problems = fit_recompute(session, *made); !problems.empty())
            out.skipped = first_problem(problems);
    out.file = file_of(made->scenario, record.id);
    out.assumptions = std::move(made->assumptions);
    return out;
}

} // namespace

RecordQuestion question_of(const MeasuredRecord& record, Session& session)
{
    return record.scenario.is_null() ? ruled_question(record, session) : own_question(record);
}

} // namespace trainyard
