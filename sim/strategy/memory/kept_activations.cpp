#include "sim/strategy/memory/kept_activations.h"

#include "sim/strategy/lower/layer_memory.h"
#include "sim/strategy/stages.h"

#include <algorithm>

namespace trainyard {

namespace {

// By kind of layer: what a forward pass leaves behind.
std::vector<std::int64_t> kept_by_kind(const JobWork& work)
{
    std::vector<std::int64_t> kept;
    for (const auto& kind : work.kinds)
        kept.push_back(LayerMemory(kind.layer, kind.work, 0).kept_bytes());
    return kept;
}

// The same by chunk of the stage.
std::vector<std::int64_t> kept_by_chunk(const JobWork& work,
                                        const std::vector<VirtualStage>& chunks,
                                        const std::vector<std::int64_t>& by_kind)
{
    std::vector<std::int64_t> kept;
    for (const VirtualStage& chunk : chunks) {
        std::int64_t& sum = kept.emplace_back(0);
        for (const std::size_t kind : work.stages[static_cast<std::size_t>(chunk.number)])
            sum += by_kind[kind];
    }
    return kept;
}

// Passes that take turns count when both are through. The weights' part of a split pass still
// reads some of what its input part no longer counts.
std::int64_t most_kept(const std::vector<Pass>& passes, const std::vector<std::int64_t>& kept)
{
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const Pass& pass : passes) {
        const std::int64_t bytes = kept[static_cast<std::size_t>(pass.chunk)];
        if (pass.kind == PassKind::forward)
            now += bytes;
        else if (hands_back(pass.kind))
            now -= bytes;
        if (!pass.with_next)
            most = std::max(most, now);
    }
    return most;
}

} // namespace

std::vector<std::int64_t> kept_activations(const Job& job, const JobWork& work)
{
    const StagePlacement placement = placement_of(job);
    std::vector<std::int64_t> most(static_cast<std::size_t>(placement.devices), 0);
    if (is_single_process(job))
        return most;
    const std::vector<std::int64_t> by_kind = kept_by_kind(work);
    const std::vector<std::vector<Pass>> passes = passes_of(job);
    for (std::size_t stage = 0; stage < most.size(); ++stage) {
        const auto chunks = chunks_of(placement, static_cast<int>(stage));
        most[stage] = most_kept(passes[stage], kept_by_chunk(work, chunks, by_kind));
    }
    return most;
}

} // namespace trainyard
