#include "sim/strategy/lower/job_work.h"

#include "sim/strategy/optimizers.h"
#include "sim/workload/split_backward.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

HeldLayer held_layer(const StageLayer& layer, const LayerWork& work)
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

// A last stage that shares the embedding's matrix with another device (tied logits, prediction
// layers) holds a copy of it.
void add_tied_copy(const Job& job, const Partition& partition, HeldLayer& head)
{
    const auto copy =
        static_cast<double>(partition.padded_vocabulary / partition.vocabulary_ranks() *
                            std::get<Transformer>(job.model.architecture).hidden);
    head.parameters.dense += copy;
    if (partition.lora)
        return;
    head.trained.dense += copy;
    if (!partition.vocabulary_parallel && partition.sequence_parallel)
        head.summed_over_tp += copy;
}

} // namespace

JobWork job_work(const Job& job)
{
    const Partition partition = partition_of(job);
    JobWork out;
    for (const std::vector<StageLayer>& layers : cut_into_stages(job)) {
        std::vector<std::size_t>& stage = out.stages.emplace_back();
        for (const StageLayer& layer : layers) {
            const auto found = std::ranges::find(out.kinds, layer, &KindOfLayer::layer);
            stage.push_back(static_cast<std::size_t>(found - out.kinds.begin()));
            if (found != out.kinds.end())
                continue;
            LayerWork work = layer_work(job.model, layer.kind, partition);
            const HeldLayer held = held_layer(layer, work);
            out.kinds.push_back({layer, std::move(work), held});
        }
    }
    if (ties_across_devices(job))
        add_tied_copy(job, partition, out.kinds[out.stages.back().back()].held);
    for (KindOfLayer& kind : out.kinds)
        kind.held.optimizer_state = optimizer_share(job, kind.layer.kind, kind.held.trained).state;
    return out;
}

std::vector<HeldLayer> held_layers(const JobWork& work, const StagePlacement& placement, int device)
{
    std::vector<HeldLayer> held;
    for (const VirtualStage& chunk : chunks_of(placement, device))
        for (const std::size_t kind : work.stages[static_cast<std::size_t>(chunk.number)])
            held.push_back(work.kinds[kind].held);
    return held;
}

std::vector<std::string> layer_names(const JobWork& work)
{
    std::vector<std::string> names;
    for (const std::vector<std::size_t>& stage : work.stages)
        for (const std::size_t kind : stage) {
            const LayerKind& layer = work.kinds[kind].layer.kind;
            const bool embeds = layer.role == LayerKind::Role::embedding;
            const bool ends = layer.role == LayerKind::Role::head;
            const std::string_view of = layer.encoder >= 0 ? "encoder " : "";
            names.push_back(embeds ? fmt::format("{}embedding", of)
                            : ends ? "head"
                                   : fmt::format("{}layer {}", of, names.size()));
        }
    return names;
}

std::vector<PlacedLayer> layers_of_stage(const JobWork& work, const StagePlacement& placement,
                                         int device)
{
    std::vector<std::size_t> first = {0}; // number of each virtual stage's first layer
    for (const std::vector<std::size_t>& stage : work.stages)
        first.push_back(first.back() + stage.size());
    std::vector<PlacedLayer> layers;
    const std::vector<VirtualStage> chunks = chunks_of(placement, device);
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
        const auto stage = static_cast<std::size_t>(chunks[chunk].number);
        for (std::size_t i = 0; i < work.stages[stage].size(); ++i)
            layers.push_back({static_cast<int>(chunk), work.stages[stage][i],
                              static_cast<std::uint16_t>(first[stage] + i)});
    }
    return layers;
}

} // namespace trainyard
