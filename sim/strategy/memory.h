#pragma once

// What a device holds, per pipeline stage: a replay of the program.

#include "sim/program/program.h"
#include "sim/strategy/job.h"
#include "sim/strategy/memory/allocator_replay.h"

#include <map>

namespace trainyard {

// Where a step is when a rank holds most.
struct PeakPlace {
    std::string op; // label of the op that asks for the last of it; empty: between steps
    Phase phase = Phase::other;
    std::optional<int> micro_batch;
    std::optional<int> layer; // of the model, embedding 0
    std::string layer_name;

    bool operator==(const PeakPlace&) const = default;
};

// Tensors of one name and size that live at the peak.
struct PeakTensor {
    std::string name;
    MemoryKind kind = MemoryKind::workspace;
    Bytes bytes; // of one
    std::int64_t count = 0;

    bool operator==(const PeakTensor&) const = default;
};

// Bytes at the peak of one stage's fullest rank, by kind: the names of MemoryKind, and
//   fragmentation    reserved by the framework's allocator beyond that, used by nobody
struct StageMemory {
    std::map<std::string, Bytes> kinds;
    PeakPlace place;
    std::vector<PeakTensor> tensors; // largest together first
    Bytes pinned_host;               // of the host: in no kind
    // Unless it was not asked for.
    std::optional<AllocatorReplay> allocator;

    Bytes total() const;
    Bytes in_use() const; // all but fragmentation
    // What the framework's allocator hands out, as torch.cuda.max_memory_allocated() counts: not
    // communicators and context, which are in use beside it.
    Bytes allocated() const;

    bool operator==(const StageMemory&) const = default;
};

struct MemoryEstimate {
    std::vector<StageMemory> stages;
    Bytes capacity; // of a device, usable
    int fullest_stage = 0;

    Bytes peak() const { return stages[static_cast<std::size_t>(fullest_stage)].total(); }
    bool fits() const { return peak() <= capacity; }
    // Bytes that stay free at the peak; negative: how much is missing.
    std::int64_t headroom() const
    {
        return static_cast<std::int64_t>(capacity.value()) -
               static_cast<std::int64_t>(peak().value());
    }

    bool operator==(const MemoryEstimate&) const = default;
};

struct DeviceMemory {
    Bytes capacity = {};         // as the driver reports it; 0: without limit
    Bytes context = {};          // CUDA context and libraries
    Bytes per_communicator = {}; // NCCL buffers
    Bytes matrix_library = {};   // workspace that each library of matrix products takes

    bool operator==(const DeviceMemory&) const = default;
};

// Whose requests go through the allocator.
enum class AllocatorView : std::uint8_t { nobody, fullest_stage, every_stage };

struct MemoryOptions {
    AllocatorView view = AllocatorView::every_stage;
    AllocatorOptions allocator = {}; // its device_bytes follow from DeviceMemory
    int steps = 2;
    std::vector<double> lengths = {}; // as AllocatorReplayRequest

    bool operator==(const MemoryOptions&) const = default;
};

// Parameters, gradients and optimizer states, which stages hold all the time, what passes under way
// keep for backward, and the device's context: the least that a job needs, known without a
// program. Requires a resolved job.
MemoryEstimate estimate_least(const Job& job, const DeviceMemory& device);

// Requires a resolved job.
MemoryEstimate estimate_memory(const Job& job, const DeviceMemory& device,
                               const MemoryOptions& options = {});
// `program` is the job's. `live`: what the same estimate without an allocator was, where it is
// known.
MemoryEstimate estimate_memory(const Job& job, const Program& program, const DeviceMemory& device,
                               const MemoryOptions& options = {},
                               const MemoryEstimate* live = nullptr);

} // namespace trainyard
