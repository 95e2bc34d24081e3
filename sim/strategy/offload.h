#pragma once

// Who updates offloaded states, and when gradients reach them.

#include "sim/strategy/job.h"

namespace trainyard {

// Does the host (not the device) update the parameters?
inline bool host_updates(const Job& job)
{
    const OffloadTarget target = job.strategy.offload.optimizer;
    return target == OffloadTarget::cpu || target == OffloadTarget::grace;
}

// Do gradients leave beside the last backward pass? Else when all sums are made: with pipeline
// stages those between them (tied embeddings, twins) come last.
inline bool leaves_beside_backward(const Job& job)
{
    return host_updates(job) && job.strategy.offload.overlap && job.strategy.pp == 1;
}

// ... as they come? Sums over several micro-batches are made on the device.
inline bool leaves_at_once(const Job& job)
{
    return leaves_beside_backward(job) && job.micro_batches() == 1;
}

} // namespace trainyard
