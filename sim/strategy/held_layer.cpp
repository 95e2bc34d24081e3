#include "sim/strategy/held_layer.h"

#include "sim/strategy/optimizers.h"
#include "sim/workload/split_backward.h"

#include <algorithm>

namespace trainyard {

namespace {

HeldLayer held(const StageLayer& layer, const LayerWork& work)
{
    return {.role = layer.kind.role,
            .parameters = work.parameters,
            .trained = work.trained,
            .optimizer_state = {},
            .summed_over_tp = work.summed_over_tp,
            .output = work.output,
            .wide = layer.kind.wide,
            .splits = !weight_part(work.backward).empty()};
}

void set_optimizer_states(const Job& job, std::vector<std::vector<HeldLayer>>& stages)
{
    const std::vector<std::vector<StageLayer>> layers = cut_into_stages(job);
    for (std::size_t s = 0; s < stages.size(); ++s)
        for (std::size_t i = 0; i < stages[s].size(); ++i)
            stages[s][i].optimizer_state =
                optimizer_share(job, layers[s][i].kind, stages[s][i].trained).state;
}

} // namespace

bool ties_across_devices(const Job& job)
{
    const auto* transformer = std::get_if<Transformer>(&job.model.architecture);
    return transformer != nullptr && transformer->embeds_at_both_ends() &&
           !apart_ends(placement_of(job)).empty();
}

std::vector<std::vector<HeldLayer>> held_layers(const Job& job)
{
    const Partition partition = partition_of(job);
    std::vector<std::pair<LayerKind, LayerWork>> works; // few kinds make many layers
    const auto work_of = [&](const LayerKind& kind) -> const LayerWork& {
        const auto found = std::ranges::find(works, kind, &std::pair<LayerKind, LayerWork>::first);
        if (found != works.end())
            return found->second;
        return works.emplace_back(kind, layer_work(job.model, kind, partition)).second;
    };
    std::vector<std::vector<HeldLayer>> stages;
    for (const std::vector<StageLayer>& layers : cut_into_stages(job)) {
        std::vector<HeldLayer>& stage = stages.emplace_back();
        for (const StageLayer& layer : layers)
            stage.push_back(held(layer, work_of(layer.kind)));
    }
    if (ties_across_devices(job)) {
        const auto copy =
            static_cast<double>(partition.padded_vocabulary / partition.vocabulary_ranks() *
                                std::get<Transformer>(job.model.architecture).hidden);
        HeldLayer& head = stages.back().back();
        head.parameters.dense += copy;
        if (!partition.lora) {
            head.trained.dense += copy;
            if (!partition.vocabulary_parallel && partition.sequence_parallel)
                head.summed_over_tp += copy;
        }
    }
    set_optimizer_states(job, stages);
    return stages;
}

} // namespace trainyard
