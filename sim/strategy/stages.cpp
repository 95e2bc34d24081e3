#include "sim/strategy/stages.h"

#include <algorithm>
#include <cassert>

namespace trainyard {

namespace {

// Transformer layers of each virtual stage.
std::vector<int> layers_per_stage(const Job& job, const Transformer& model)
{
    if (!job.strategy.stage_layers.empty())
        return job.strategy.stage_layers;
    const int stages = job.strategy.pp * job.strategy.vpp;
    return std::vector<int>(static_cast<std::size_t>(stages), model.layers / stages);
}

// Of so many layers of a device those of one of its chunks.
int share_of_chunk(const Job& job, std::int64_t layers, int chunk)
{
    const auto until = [&](int chunks) { return layers * chunks / job.strategy.vpp; };
    return static_cast<int>(until(chunk + 1) - until(chunk));
}

// Of `count` layers in this chunk, how many are recomputed.
int recomputed_layers(const Job& job, int chunk, int count)
{
    if (job.training.recompute == Recompute::none)
        return 0;
    if (job.training.recompute == Recompute::selective || !job.training.recompute_layers)
        return count;
    return std::min(count, share_of_chunk(job, *job.training.recompute_layers, chunk));
}

} // namespace

PipelineShape shape_of(const Job& job)
{
    const Strategy& strategy = job.strategy;
    return {.stages = strategy.pp,
            .chunks = strategy.vpp,
            .micro_batches = static_cast<int>(job.micro_batches()),
            .group = strategy.pipeline.micro_batch_group.value_or(0),
            .in_turns = strategy.overlap.ep && strategy.ep > 1};
}

StagePlacement placement_of(const Job& job)
{
    const PipelineShape shape{.stages = job.strategy.pp, .chunks = job.strategy.vpp};
    const PipelineSchedule* schedule = find_schedule(job.strategy.schedule);
    return schedule != nullptr ? schedule->placement(shape)
                               : looped_placement(shape.stages, shape.chunks);
}

std::vector<std::vector<Pass>> passes_of(const Job& job)
{
    const PipelineShape shape = shape_of(job);
    const PipelineSchedule* schedule = find_schedule(job.strategy.schedule);
    assert(schedule != nullptr && schedule->refusal(shape).empty());
    std::vector<std::vector<Pass>> passes;
    for (int stage = 0; stage < shape.stages; ++stage)
        passes.push_back(schedule->passes(shape, stage));
    return passes;
}

std::vector<std::vector<StageLayer>> cut_into_stages(const Job& job)
{
    const std::vector<LayerKind> layers = layers_of(job.model);
    std::vector<std::vector<StageLayer>> stages;
    const auto* transformer = std::get_if<Transformer>(&job.model.architecture);
    if (transformer == nullptr) {
        std::vector<StageLayer>& all = stages.emplace_back();
        for (const LayerKind& kind : layers)
            all.push_back({kind, job.training.recompute});
        return stages;
    }
    int number = 0; // of a transformer layer
    const auto numbered = [&](LayerKind kind) {
        const NumberFormats& formats = job.training.formats;
        kind.wide = number < formats.first_wide_layers ||
                    number >= transformer->layers - formats.last_wide_layers;
        ++number;
        return kind;
    };
    auto next = layers.begin();
    for (const int count : layers_per_stage(job, *transformer)) {
        const int chunk = static_cast<int>(stages.size()) / job.strategy.pp;
        std::vector<StageLayer>& stage = stages.emplace_back();
        if (next == layers.begin()) {
            // Encoders, whose layers are recomputed as the model's, then the embedding.
            for (; next->encoder >= 0; ++next)
                stage.push_back({*next, next->role == LayerKind::Role::embedding
                                            ? Recompute::none
                                            : job.training.recompute});
            stage.push_back({*next++, Recompute::none});
        }
        const int recomputed = recomputed_layers(job, chunk, count);
        const int offloaded = share_of_chunk(job, job.strategy.offload.activation_layers, chunk);
        for (int layer = 0; layer < count; ++layer) {
            const bool again = layer < recomputed;
            // With selective recompute all layers are in part: what they keep may wait elsewhere.
            const int kept = job.training.recompute == Recompute::full ? layer - recomputed : layer;
            stage.push_back({numbered(*next++), again ? job.training.recompute : Recompute::none,
                             kept >= 0 && kept < offloaded});
        }
    }
    for (; next + 1 != layers.end(); ++next) // prediction layers
        stages.back().push_back(
            {*next, job.training.recompute_layers ? Recompute::none : job.training.recompute});
    stages.back().push_back({layers.back(), Recompute::none});
    return stages;
}

} // namespace trainyard
