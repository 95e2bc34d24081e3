#pragma once

// The kernels of a simulated step, one by one.

#include "sim/study/outcome.h"

#include <functional>

namespace trainyard {

struct KernelUses {
    const Kernel* kernel = nullptr; // null: compute that is no kernel of the workload
    Phase phase = Phase::other;
    std::uint64_t count = 0; // per step
    Seconds time;            // of all of them
};

// Of one lane. Times are those of the engine's ops before communication, jitter or windows of low
// speed slow them: they sum to the lane's compute time where nothing does. An op's time is shared
// out among its kernels as the cost model has it.
void for_each_kernel(const Outcome& outcome, LaneId lane,
                     const std::function<void(const KernelUses&)>& visit);

} // namespace trainyard
