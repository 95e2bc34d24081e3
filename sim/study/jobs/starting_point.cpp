#include "sim/study/jobs/starting_point.h"

#include "sim/base/units.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/first_training.h"
#include "sim/study/jobs/layout_search.h"
#include "sim/study/jobs/layout_text.h"
#include "sim/study/jobs/nearest_batches.h"
#include "sim/study/jobs/start_refusal.h"
#include "sim/study/stages.h"
#include "sim/topology/used_devices.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

// Reads model and cluster the way a scenario would.
Checked<LayoutFacts> facts_of(const StartRequest& request)
{
    Scenario probe;
    probe.model = request.model;
    probe.topology = request.topology;
    probe.training.global_batch = 1;
    probe.strategy.dp = 1;
    // Learned positions may be fewer than any default.
    probe.training.sequence_length = request.sequence_length.value_or(1);
    StageMemos memos;
    const Checked<Parts> parts =
        build_job_parts(scenario_in_memory(probe, request.folder, ""), memos);
    if (!parts)
        return tl::unexpected(parts.error());
    const Topology& topology = *parts->topology;
    LayoutFacts facts;
    facts.model = *parts->model;
    facts.gpus = topology.device_count();
    facts.domain = largest_domain(topology);
    facts.device = parts->cost->profile().hardware.device;
    const ParameterCount count = count_parameters(facts.model);
    facts.parameters = count.total;
    if (const Transformer* model = facts.transformer(); model != nullptr && model->moe) {
        // A token uses experts_per_token of them: the others make the difference.
        const int others = model->moe->experts - model->moe->experts_per_token;
        if (others > 0)
            facts.expert_parameters = (count.total - count.active) * model->moe->experts / others;
    }
    std::vector<DeviceId> all(static_cast<std::size_t>(facts.gpus));
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = make_id<DeviceId>(i);
    facts.machine = group_shape(topology, all);
    return facts;
}

// Why this layout, a sentence each.
std::vector<std::string> reasons_for(const FoundLayout& found, const LayoutFacts& facts,
                                     const LayoutSpace& space, std::size_t simulated)
{
    std::vector<std::string> out;
    const LayoutTrial& chosen = found.chosen;
    const Strategy& s = chosen.scenario.strategy;
    const char* const kind = s.zero == 3   ? "FSDP"
                             : s.zero == 0 ? "DDP"
                                           : "Megatron-Core with its distributed optimizer";
    out.push_back(fmt::format("strategy {}: {}, a step in {}", described(chosen.scenario), kind,
                              to_display(chosen.step_time)));
    out.push_back(
        fmt::format("the quickest of {} layouts that were simulated, of {} possible{}", simulated,
                    space.layouts,
                    found.next ? fmt::format("; next: {} with {}", described(found.next->scenario),
                                             to_display(found.next->step_time))
                               : ""));
    if (!s.stage_layers.empty())
        out.push_back(fmt::format("strategy.stage_layers: {} layers over {} stages, the last one "
                                  "lighter by the logits",
                                  facts.transformer()->layers, s.pp));
    const Training& training = chosen.scenario.training;
    if (training.recompute != Recompute::none)
        out.push_back(
            fmt::format("training.recompute {}{}: the activations do not fit otherwise",
                        to_name(training.recompute),
                        training.recompute_layers
                            ? fmt::format(" of {} layers a stage", *training.recompute_layers)
                            : ""));
    out.push_back(
        fmt::format("training.micro_batch {}: quickest of those that fit", training.micro_batch));
    out.push_back(fmt::format("it fits: {} of {} on the fullest device",
                              to_display(chosen.memory.peak()),
                              to_display(chosen.memory.capacity)));
    return out;
}

struct NoLayout {
    StartRefusal refusal;
    std::vector<std::int64_t> batches; // that some layout would divide
};

tl::expected<StartingPoint, NoLayout> quickest(const StartRequest& request, Session& session,
                                               LayoutFacts facts, FirstTraining training)
{
    if (facts.transformer() != nullptr)
        facts.sequence_length = training.scenario.training.sequence_length;
    facts.global_batch = training.scenario.training.global_batch;
    const LayoutSpace space = layout_space(facts);
    LayoutTrials trials(request, session, facts, training.scenario);
    std::optional<FoundLayout> found = search_layouts(space, facts, trials);
    if (!found) {
        std::vector<std::int64_t> batches = nearest_batches(space, facts, trials);
        StartRefusal refusal = start_refusal(facts, space, trials, batches);
        return tl::unexpected(NoLayout{std::move(refusal), std::move(batches)});
    }
    std::vector<std::string> reasons = std::move(training.reasons);
    for (std::string& reason : reasons_for(*found, facts, space, trials.all().size()))
        reasons.push_back(std::move(reason));
    return StartingPoint{std::move(found->chosen.scenario), std::move(found->chosen.memory),
                         found->chosen.step_time, std::move(reasons)};
}

} // namespace

tl::expected<StartingPoint, StartRefusal> starting_point(const StartRequest& request,
                                                         Session& session)
{
    const Checked<LayoutFacts> facts = facts_of(request);
    if (!facts)
        return tl::unexpected(StartRefusal{facts.error(), false});
    tl::expected<StartingPoint, NoLayout> start =
        quickest(request, session, *facts, first_training(request, *facts));
    if (!start && !request.global_batch && !start.error().batches.empty()) {
        const std::int64_t batch = start.error().batches.back();
        start = quickest(request, session, *facts, first_training(request, *facts, batch));
    }
    if (!start)
        return tl::unexpected(std::move(start.error().refusal));
    return std::move(*start);
}

} // namespace trainyard
