#pragma once

// A rank's requests, step after step, sent through PyTorch's caching allocator.

#include "sim/strategy/memory/caching_allocator.h"
#include "sim/strategy/memory/host_order.h"

#include <optional>

namespace trainyard {

struct AllocatorReplayRequest {
    AllocatorOptions allocator;
    int steps = 2;
    int micro_batches = 1;               // of a step
    std::vector<std::int64_t> libraries; // requests of libraries, which come first
    // Tokens of each micro-batch, of all steps in turn and over again, as a multiple of the job's;
    // none: all as long as the job says.
    std::vector<double> lengths;
};

struct AllocatorStep {
    std::int64_t allocated = 0; // at most
    std::int64_t reserved = 0;  // at the end

    bool operator==(const AllocatorStep&) const = default;
};

struct AllocatorReplay {
    AllocatorTotals peak;
    int retries = 0;
    std::vector<AllocatorStep> steps;
    // The request that the device had no room for; the replay ends there.
    std::optional<MemoryPlace> failed;
    std::int64_t failed_bytes = 0;

    // Reserved and used by nobody, most reserved against most allocated.
    std::int64_t unused() const { return peak.reserved - peak.allocated; }
    bool operator==(const AllocatorReplay&) const = default;
};

// What the role always holds comes first, what the first update makes when it runs. FSDP gathers on
// a stream, and so into a pool, of its own.
//
// Where the steady state of a pipeline asks the device for nothing over three micro-batches, the
// others are passed over.
AllocatorReplay replay_allocator(const HostOrder& order, const Role& role,
                                 const AllocatorReplayRequest& request);

} // namespace trainyard
