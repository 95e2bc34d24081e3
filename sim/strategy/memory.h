#pragma once

// What a device holds, per pipeline stage.

#include "sim/program/program.h"
#include "sim/strategy/job.h"

#include <map>

namespace trainyard {

// Bytes at the peak of one stage's fullest rank, by kind:
//   parameters, gradients, optimizer    sharded as ZeRO says
//   unsharded, unreduced, buckets       whole layers gathered by FSDP, their gradients before they
//                                       are reduced, DDP's copies of gradients
//   activations, logits, workspace      kept for backward, of the head, and live inside a layer
//                                       or its kernels
//   pipeline                            tensors on their way between stages
//   fragmentation                       held by the framework's allocator, in use by nobody
//   communicators, context              outside the framework's allocator
struct StageMemory {
    std::map<std::string, Bytes> kinds;

    Bytes total() const;
    // What the framework's allocator hands out, as torch.cuda.max_memory_allocated() counts.
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
    Bytes capacity = {};         // as the driver reports it
    Bytes context = {};          // CUDA context and libraries
    Bytes per_communicator = {}; // NCCL buffers
    Bytes matrix_library = {};   // workspace that each library of matrix products takes

    bool operator==(const DeviceMemory&) const = default;
};

// Requires a resolved job.
MemoryEstimate estimate_memory(const Job& job, const DeviceMemory& device);
// `program` is the job's.
MemoryEstimate estimate_memory(const Job& job, const Program& program, const DeviceMemory& device);

} // namespace trainyard
