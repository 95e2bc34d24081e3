#include "sim/strategy/memory.h"

#include "sim/strategy/memory/live_peak.h"
#include "sim/strategy/plan.h"
#include "sim/strategy/rank_layout.h"

#include <array>

namespace trainyard {

namespace {

// Kinds outside the framework's allocator, and what it holds without use.
constexpr std::array not_allocated = {"communicators", "context", "fragmentation"};

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

// cuBLAS; Transformer Engine has a workspace of its own.
std::uint64_t matrix_libraries(const Job& job)
{
    return job.software.spare_weight_gradients ? 2 : 1;
}

StageMemory stage_memory(const Program& program, const HostOrder& order, const Role& role)
{
    const LivePeak peak = live_peak(order, role);
    const KindBytes kinds = bytes_by_kind(program, peak.tensors);
    StageMemory memory;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        memory.kinds[std::string(to_name(static_cast<MemoryKind>(i)))] =
            Bytes(static_cast<std::uint64_t>(kinds[i]));
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
    return estimate_memory(job, make_plan(job).program, device);
}

MemoryEstimate estimate_memory(const Job& job, const Program& program, const DeviceMemory& device)
{
    const HostOrder order(program);
    MemoryEstimate estimate;
    estimate.capacity = device.capacity;
    for (int stage = 0; stage < job.strategy.pp; ++stage) {
        StageMemory memory =
            stage_memory(program, order, program.roles[static_cast<std::size_t>(stage)]);
        memory.kinds["communicators"] =
            device.per_communicator * static_cast<std::uint64_t>(communicators(job, stage));
        memory.kinds["context"] = device.context;
        memory.kinds["workspace"] += device.matrix_library * matrix_libraries(job);
        std::erase_if(memory.kinds, [](const auto& kind) { return kind.second == Bytes(0); });
        estimate.stages.push_back(std::move(memory));
        if (estimate.stages.back().total() > estimate.peak())
            estimate.fullest_stage = stage;
    }
    return estimate;
}

} // namespace trainyard
