#include "sim/strategy/lower/job_work.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

JobWork job_work(const Job& job)
{
    const Partition partition = partition_of(job);
    const std::vector<std::vector<StageLayer>> stages = cut_into_stages(job);
    const std::vector<std::vector<HeldLayer>> held = held_layers(job);
    JobWork out;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        std::vector<std::size_t>& stage = out.stages.emplace_back();
        for (std::size_t i = 0; i < stages[s].size(); ++i) {
            const StageLayer& layer = stages[s][i];
            const auto found = std::ranges::find(out.kinds, layer, &KindOfLayer::layer);
            stage.push_back(static_cast<std::size_t>(found - out.kinds.begin()));
            if (found == out.kinds.end())
                out.kinds.push_back(
                    {layer, layer_work(job.model, layer.kind, partition), held[s][i]});
        }
    }
    return out;
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
