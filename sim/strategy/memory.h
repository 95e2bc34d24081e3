#pragma once

// What a device holds, per pipeline stage.

#include "sim/strategy/job.h"

#include <map>

namespace trainyard {

// Bytes at the peak of one stage's fullest rank.
struct StageMemory {
    std::map<std::string, Bytes> kinds; // parameters, gradients, optimizer, activations, logits,
                                        // buckets, unsharded, workspace, ...
    Bytes total() const;
};

struct MemoryEstimate {
    std::vector<StageMemory> stages;
    Bytes capacity; // of a device, usable
    int fullest_stage = 0;

    Bytes peak() const { return stages[static_cast<std::size_t>(fullest_stage)].total(); }
    bool fits() const { return peak() <= capacity; }
};

struct DeviceMemory {
    Bytes capacity;         // as the driver reports it
    Bytes context;          // CUDA context and libraries
    Bytes per_communicator; // NCCL buffers
};

MemoryEstimate estimate_memory(const Job& job, const DeviceMemory& device);

} // namespace trainyard
