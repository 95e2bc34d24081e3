#include "sim/strategy/memory.h"

#include "sim/strategy/activation_peak.h"
#include "sim/strategy/model_states.h"
#include "sim/strategy/rank_layout.h"

#include <array>

namespace trainyard {

namespace {

// Kinds outside the framework's allocator, and what it holds without use.
constexpr std::array not_allocated = {"communicators", "context", "fragmentation"};

// Reserved but unused bytes of PyTorch's caching allocator per byte that comes and goes within a
// step: 0.11 to 0.41 in the B200 runs of tests/validation/records/b200_megatron_single_node.json.
// The least of them counts, since near the end of memory the allocator returns what it can.
constexpr double fragmentation_share = 0.11;

int communicators(const Job& job, int stage)
{
    const RankLayout layout(job);
    const RankId rank = layout.rank({.tp = 0, .cp = 0, .dp = 0, .pp = stage});
    const auto* transformer = std::get_if<Transformer>(&job.model.architecture);
    std::vector<GroupKind> kinds = {GroupKind::tp, GroupKind::cp, GroupKind::dp, GroupKind::pp,
                                    GroupKind::twin};
    if (job.model.is_moe())
        kinds.insert(kinds.end(), {GroupKind::ep, GroupKind::etp, GroupKind::edp});
    if (transformer != nullptr && transformer->embeds_at_both_ends())
        kinds.push_back(GroupKind::embedding);
    int count = 0;
    for (const GroupKind kind : kinds)
        count += layout.members(kind, rank).size() > 1;
    return count;
}

// A stage receives one tensor while it sends another, each way with several chunks.
Bytes pipeline_buffers(const Job& job, const std::vector<HeldLayer>& layers, std::size_t chunks)
{
    if (job.strategy.pp == 1)
        return Bytes(0);
    Bytes boundary;
    for (const HeldLayer& layer : layers)
        boundary = std::max(boundary, layer.output);
    return boundary * (chunks > 1 ? 4 : 2);
}

StageMemory stage_memory(const Job& job, const std::vector<std::vector<HeldLayer>>& chunks,
                         const std::vector<Pass>& passes)
{
    std::vector<HeldLayer> layers;
    for (const std::vector<HeldLayer>& chunk : chunks)
        layers.insert(layers.end(), chunk.begin(), chunk.end());
    const ActivationPeak peak = activation_peak(passes, chunks);
    const ModelStates states = model_states(job, layers);
    StageMemory memory;
    memory.kinds = {{"parameters", states.parameters},
                    {"gradients", states.gradients},
                    {"optimizer", states.optimizer},
                    {"unsharded", states.unsharded},
                    {"unreduced", states.unreduced},
                    {"buckets", states.buckets},
                    {"activations", peak.activations},
                    {"logits", peak.logits},
                    {"workspace", peak.workspace + states.spare},
                    {"pipeline", pipeline_buffers(job, layers, chunks.size())}};
    const Bytes coming_and_going = memory.allocated() - states.parameters - states.gradients -
                                   states.optimizer - states.buckets;
    memory.kinds["fragmentation"] = scaled(coming_and_going, fragmentation_share);
    return memory;
}

} // namespace

Bytes StageMemory::total() const
{
    Bytes sum;
    for (const auto& [kind, bytes] : kinds)
        sum += bytes;
    return sum;
}

Bytes StageMemory::allocated() const
{
    Bytes sum = total();
    for (const char* kind : not_allocated)
        if (const auto found = kinds.find(kind); found != kinds.end())
            sum -= found->second;
    return sum;
}

MemoryEstimate estimate_memory(const Job& job, const DeviceMemory& device)
{
    const std::vector<std::vector<HeldLayer>> virtual_stages = held_layers(job);
    const Placement placement = placement_of(job);
    const std::vector<std::vector<Pass>> passes = passes_of(job);
    MemoryEstimate estimate;
    estimate.capacity = device.capacity;
    for (int stage = 0; stage < job.strategy.pp; ++stage) {
        std::vector<std::vector<HeldLayer>> chunks;
        for (const VirtualStage& chunk : chunks_of(placement, stage))
            chunks.push_back(virtual_stages[static_cast<std::size_t>(chunk.number)]);
        StageMemory memory = stage_memory(job, chunks, passes[static_cast<std::size_t>(stage)]);
        memory.kinds["communicators"] =
            device.per_communicator * static_cast<std::uint64_t>(communicators(job, stage));
        memory.kinds["context"] = device.context;
        std::erase_if(memory.kinds, [](const auto& kind) { return kind.second == Bytes(0); });
        estimate.stages.push_back(std::move(memory));
        if (estimate.stages.back().total() > estimate.peak())
            estimate.fullest_stage = stage;
    }
    return estimate;
}

} // namespace trainyard
