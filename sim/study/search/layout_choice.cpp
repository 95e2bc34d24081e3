#include "sim/study/search/layout_choice.h"

#include "sim/base/fields.h"
#include "sim/study/uneven_stages.h"

#include <bit>

namespace trainyard {

LayoutChoice choice_of(const Scenario& scenario)
{
    const Strategy& s = scenario.strategy;
    const Training& t = scenario.training;
    const PipelineSchedule* const schedule = find_schedule(s.schedule);
    return {s.tp,
            s.cp,
            s.pp,
            s.vpp,
            s.ep,
            s.etp,
            s.zero,
            schedule != nullptr ? schedule : find_schedule(Strategy{}.schedule),
            t.global_batch,
            t.micro_batch,
            {t.recompute, t.recompute_layers}};
}

const PipelineSchedule& schedule_of(const LayoutChoice& choice)
{
    const bool interleaves = choice.vpp > 1 && choice.schedule->name() == Strategy{}.schedule;
    return interleaves ? *find_schedule("interleaved-1f1b") : *choice.schedule;
}

int even_part(int domain)
{
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(domain)));
}

int replicas_of(const LayoutChoice& choice, const SpaceFacts& facts)
{
    return facts.devices / (choice.tp * choice.cp * choice.pp);
}

void apply(const LayoutChoice& choice, const SpaceFacts& facts, Scenario& scenario)
{
    Strategy& s = scenario.strategy;
    s.tp = choice.tp;
    s.cp = choice.cp;
    s.pp = choice.pp;
    s.vpp = choice.vpp;
    s.ep = choice.ep;
    s.etp = choice.etp;
    s.zero = choice.zero;
    if (s.dp)
        s.dp = replicas_of(choice, facts);
    if (s.schedule != schedule_of(choice).name())
        s.schedule = choice.schedule->name();
    s.stage_layers.clear();
    s.pipeline.layout.clear();
    s.pipeline.micro_batch_group.reset();
    if (choice.cp == 1)
        s.context = {};
    if (choice.tp == 1)
        s.sequence_parallel.reset();
    const int stages = choice.pp * choice.vpp;
    const auto* transformer = std::get_if<Transformer>(&facts.model.architecture);
    const int layers = transformer == nullptr ? 0 : transformer->layers;
    if (layers > 0 && stages > 1 && stages > layers &&
        stages <= layers + 2) // the outer stages hold no layer
        s.stage_layers = uneven_stages(
            layers, stages, transformer->moe ? transformer->moe->leading_dense_layers : 0);
    else if (stages > 1 && stages <= layers)
        s.stage_layers = balanced_stages(*transformer, stages, scenario.training.sequence_length);
    Training& training = scenario.training;
    training.global_batch = choice.global_batch;
    training.micro_batch = choice.micro_batch;
    training.recompute = choice.recompute.kind;
    training.recompute_layers = choice.recompute.layers;
}

namespace {

// Members of two field tables' JSON that differ, as changes from `before` to `after`.
void add_differences(const Json& before, const Json& after, const std::string& prefix,
                     std::vector<Override>& changes)
{
    for (const auto& [key, value] : after.members()) {
        const Json* const own = before.find(key);
        if (own == nullptr || *own != value)
            changes.push_back({prefix + key, to_text(value, JsonStyle::compact)});
    }
    for (const auto& [key, value] : before.members())
        if (after.find(key) == nullptr)
            changes.push_back({prefix + key, "null"});
}

} // namespace

std::vector<Override> changes_between(const Scenario& before, const Scenario& after)
{
    std::vector<Override> out;
    add_differences(fields_of<Strategy>().write(before.strategy),
                    fields_of<Strategy>().write(after.strategy), "strategy.", out);
    add_differences(fields_of<Training>().write(before.training),
                    fields_of<Training>().write(after.training), "training.", out);
    return out;
}

std::vector<Override> changes_of(const LayoutChoice& choice, const SpaceFacts& facts,
                                 const Scenario& base)
{
    Scenario chosen = base;
    apply(choice, facts, chosen);
    return changes_between(base, chosen);
}

} // namespace trainyard
