#include "sim/strategy/memory.h"

#include "sim/strategy/memory/kept_activations.h"
#include "sim/strategy/memory/live_peak.h"
#include "sim/strategy/model_states.h"
#include "sim/strategy/pipeline/placement.h"
#include "sim/strategy/plan.h"
#include "sim/strategy/rank_layout.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

namespace trainyard {

namespace {

// Kinds outside the framework's allocator.
constexpr std::array not_allocated = {"communicators", "context"};

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

PeakPlace place_of(const Program& program, const Role& role, const LivePeak& peak)
{
    if (peak.bytes == role.static_memory)
        return {};
    const BlockUse& use = role.order[peak.place.use];
    const Op& op = program.blocks[use.block.value].ops[peak.place.op];
    const Label& label = program.labels[op.label.value];
    PeakPlace place{label.name, label.phase, std::nullopt, std::nullopt, ""};
    if (use.micro_batch != BlockUse::no_index)
        place.micro_batch = use.micro_batch;
    if (use.layer != BlockUse::no_index) {
        place.layer = use.layer;
        place.layer_name = layer_name(program, use.layer);
    }
    return place;
}

std::vector<PeakTensor> tensors_of(const Program& program, const LivePeak& peak)
{
    std::vector<PeakTensor> tensors;
    for (std::size_t i = 0; i < peak.tensors.size(); ++i)
        if (peak.tensors[i] > 0) {
            const Tensor& tensor = program.tensors[i];
            tensors.push_back({tensor.name, tensor.kind,
                               Bytes(static_cast<std::uint64_t>(tensor.bytes)), peak.tensors[i]});
        }
    const auto together = [](const PeakTensor& tensor) {
        return tensor.bytes * static_cast<std::uint64_t>(tensor.count);
    };
    std::ranges::stable_sort(tensors, std::greater{}, together);
    return tensors;
}

// What the device holds, apart from the allocator's view.
class Estimator {
public:
    Estimator(const Job& job, const Program& program, const DeviceMemory& device,
              const MemoryOptions& options)
        : job_(job), program_(program), order_(program), device_(device), options_(options)
    {}

    StageMemory live(int stage) const
    {
        const LivePeak peak = live_peak(order_, role(stage));
        const KindBytes kinds = bytes_by_kind(program_, peak.tensors);
        StageMemory memory;
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (on_device(static_cast<MemoryKind>(i)))
                memory.kinds[std::string(to_name(static_cast<MemoryKind>(i)))] =
                    Bytes(static_cast<std::uint64_t>(kinds[i]));
        memory.pinned_host = Bytes(
            static_cast<std::uint64_t>(kinds[static_cast<std::size_t>(MemoryKind::pinned_host)]));
        memory.kinds["communicators"] =
            device_.per_communicator * static_cast<std::uint64_t>(communicators(job_, stage));
        memory.kinds["context"] = device_.context;
        memory.kinds["workspace"] += device_.matrix_library * matrix_libraries(job_);
        memory.place = place_of(program_, role(stage), peak);
        memory.tensors = tensors_of(program_, peak);
        if (device_.matrix_library.value() > 0)
            memory.tensors.push_back({"matrix library", MemoryKind::workspace,
                                      device_.matrix_library,
                                      static_cast<std::int64_t>(matrix_libraries(job_))});
        std::erase_if(memory.kinds, [](const auto& kind) { return kind.second == Bytes(0); });
        return memory;
    }

    void allocate(StageMemory& memory, int stage) const
    {
        AllocatorReplayRequest request;
        request.allocator = options_.allocator;
        const auto outside = memory.total() - memory.allocated();
        const auto room = static_cast<std::int64_t>(device_.capacity.value()) -
                          static_cast<std::int64_t>(outside.value());
        request.allocator.device_bytes =
            device_.capacity.value() == 0 ? 0 : std::max<std::int64_t>(room, 1);
        request.steps = options_.steps;
        request.micro_batches = static_cast<int>(job_.micro_batches());
        request.lengths = options_.lengths;
        if (device_.matrix_library.value() > 0)
            request.libraries.assign(matrix_libraries(job_),
                                     static_cast<std::int64_t>(device_.matrix_library.value()));
        memory.allocator = replay_allocator(order_, role(stage), request);
        const std::int64_t reserved = memory.allocator->failed
                                          ? reserved_without_limit(stage, request)
                                          : memory.allocator->peak.reserved;
        const auto live = static_cast<std::int64_t>(memory.allocated().value());
        if (reserved > live)
            memory.kinds["fragmentation"] = Bytes(static_cast<std::uint64_t>(reserved - live));
    }

private:
    // What a device would need on which nothing fails: the same whatever the device's own size.
    std::int64_t reserved_without_limit(int stage, AllocatorReplayRequest request) const
    {
        request.allocator.device_bytes = 0;
        return replay_allocator(order_, role(stage), request).peak.reserved;
    }

    const Role& role(int stage) const { return program_.roles[static_cast<std::size_t>(stage)]; }

    const Job& job_;
    const Program& program_;
    HostOrder order_;
    const DeviceMemory& device_;
    const MemoryOptions& options_;
};

} // namespace

Bytes StageMemory::total() const
{
    Bytes sum;
    for (const auto& [kind, bytes] : kinds)
        sum += bytes;
    return sum;
}

Bytes StageMemory::in_use() const
{
    const auto unused = kinds.find("fragmentation");
    return unused == kinds.end() ? total() : total() - unused->second;
}

Bytes StageMemory::allocated() const
{
    Bytes sum = in_use();
    for (const char* kind : not_allocated)
        if (const auto found = kinds.find(kind); found != kinds.end())
            sum -= found->second;
    return sum;
}

MemoryEstimate estimate_least(const Job& job, const DeviceMemory& device)
{
    const StagePlacement placement = placement_of(job);
    const JobWork work = job_work(job);
    const std::vector<std::int64_t> kept = kept_activations(job, work);
    MemoryEstimate estimate;
    estimate.capacity = device.capacity;
    for (int stage = 0; stage < placement.devices; ++stage) {
        const ModelStates states = model_states(job, held_layers(work, placement, stage));
        StageMemory memory;
        memory.kinds = {{std::string(to_name(MemoryKind::parameters)), states.parameters},
                        {std::string(to_name(MemoryKind::gradients)), states.gradients},
                        {std::string(to_name(MemoryKind::optimizer)), states.optimizer},
                        {std::string(to_name(MemoryKind::activations)),
                         Bytes(static_cast<std::uint64_t>(kept[static_cast<std::size_t>(stage)]))},
                        {std::string(to_name(MemoryKind::context)), device.context}};
        estimate.stages.push_back(std::move(memory));
        if (estimate.stages.back().total() > estimate.peak())
            estimate.fullest_stage = stage;
    }
    return estimate;
}

MemoryEstimate estimate_memory(const Job& job, const DeviceMemory& device,
                               const MemoryOptions& options)
{
    return estimate_memory(job, make_plan(job).program, device, options);
}

MemoryEstimate estimate_memory(const Job& job, const Program& program, const DeviceMemory& device,
                               const MemoryOptions& options, const MemoryEstimate* live)
{
    const Estimator estimator(job, program, device, options);
    MemoryEstimate estimate;
    estimate.capacity = device.capacity;
    for (int stage = 0; stage < job.strategy.pp; ++stage) {
        estimate.stages.push_back(live != nullptr ? live->stages[static_cast<std::size_t>(stage)]
                                                  : estimator.live(stage));
        if (options.view == AllocatorView::every_stage)
            estimator.allocate(estimate.stages.back(), stage);
        if (estimate.stages.back().total() > estimate.peak())
            estimate.fullest_stage = stage;
    }
    if (options.view == AllocatorView::fullest_stage)
        estimator.allocate(estimate.stages[static_cast<std::size_t>(estimate.fullest_stage)],
                           estimate.fullest_stage);
    return estimate;
}

} // namespace trainyard
