#include "sim/study/training/unstated_settings.h"

#include "sim/study/record_scenario.h"
#include "sim/study/search/search.h"
#include "sim/study/session.h"

#include <fmt/core.h>
#include <fmt/format.h>

namespace trainyard {

namespace {

// A pipeline whose bubble is longer than this share of its work is interleaved.
constexpr double longest_bubble = 0.25;

// Which settings are open.
struct OpenSettings {
    bool micro_batch = false;
    bool recompute = false;
    bool virtual_stages = false;

    // What is recomputed alone follows from memory.
    bool any() const { return micro_batch || virtual_stages; }
};

OpenSettings open_settings(const MeasuredRecord& record, const RecordScenario& made)
{
    const Strategy& strategy = made.scenario.strategy;
    const Training& training = made.scenario.training;
    OpenSettings open;
    const bool gathers = strategy.zero == 3 && strategy.pp == 1;
    open.micro_batch = gathers && !record.micro_batch;
    open.recompute = made.recompute_to_fit;
    const double micro_batches = static_cast<double>(training.global_batch) /
                                 static_cast<double>(training.micro_batch * *strategy.dp);
    const double bubble = (strategy.pp - 1) / (micro_batches * strategy.vpp);
    open.virtual_stages = !record.parallel.vpp && bubble > longest_bubble;
    return open;
}

// Stated sizes as they are; what is open as in a search for the best layout. Interleaved 1F1B is
// the schedule of virtual stages.
SearchSpace open_space(const OpenSettings& open, const SearchBase& base)
{
    const Strategy& strategy = base.file.scenario.strategy;
    const Training& training = base.file.scenario.training;
    SearchSpace space = usual_space(base.file.scenario, base.facts);
    space.tp = {strategy.tp};
    space.cp = {strategy.cp};
    space.pp = {strategy.pp};
    space.ep = {strategy.ep};
    space.etp = {strategy.etp};
    space.zero = {strategy.zero};
    space.schedules = {find_schedule("1f1b")};
    if (!open.virtual_stages)
        space.vpp = {strategy.vpp};
    if (!open.micro_batch)
        space.micro_batches = {training.micro_batch};
    if (!open.recompute)
        space.recompute = {{training.recompute, training.recompute_layers}};
    return space;
}

std::string text_of(const OpenSettings& open, const LayoutChoice& choice)
{
    std::vector<std::string> out;
    if (open.micro_batch)
        out.push_back(fmt::format("micro-batch {}", choice.micro_batch));
    if (open.virtual_stages)
        out.push_back(fmt::format("{} virtual stages", choice.vpp));
    if (open.recompute)
        out.push_back(fmt::format(
            "recompute {}{}", to_name(choice.recompute.kind),
            choice.recompute.layers ? fmt::format(" of {} layers", *choice.recompute.layers) : ""));
    return fmt::format("{}", fmt::join(out, ", "));
}

// Assumptions that the search has replaced.
bool is_replaced(const std::string& assumption)
{
    for (const char* word : {"micro-batch not", "recompute not", "virtual stages", "layers of the"})
        if (assumption.rfind(word, 0) == 0)
            return true;
    return false;
}

} // namespace

void fill_unstated(PublishedRun& run, Session& session, const ValidateOptions& options)
{
    MeasuredRecord record = run.record;
    record.step_time = record.step_time.value_or(1); // which no scenario has anything of
    auto made = scenario_of(record);
    const OpenSettings open = made ? open_settings(record, *made) : OpenSettings{};
    if (!open.any())
        return;
    const auto base = search_base(scenario_in_memory(made->scenario, {}, record.id));
    if (!base)
        return;
    SearchRequest request;
    request.space = open_space(open, *base);
    request.top = 1;
    request.headroom = 0; // it did fit
    request.threads = options.threads;
    request.work = {options.work.cancel, {}};
    const SearchResult result = search(*base, request, session);
    if (result.best.empty())
        return;
    const LayoutChoice& choice = result.best.front().choice;
    run.record.scenario = to_json(scenario_of(choice, *base).scenario);
    for (std::string& assumption : made->assumptions)
        if (!is_replaced(assumption))
            run.assumptions.push_back(std::move(assumption));
    run.assumptions.push_back("not stated, the quickest that fits: " + text_of(open, choice));
}

} // namespace trainyard
