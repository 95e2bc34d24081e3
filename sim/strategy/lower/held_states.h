#pragma once

// The tensors that a stage's rank always holds: parameters, gradients, optimizer state, and what
// the framework does not let go.

#include "sim/program/memory.h"
#include "sim/strategy/lower/data_parallel.h"

namespace trainyard {

struct HeldStates {
    std::vector<Tensor> always;
    // Likewise, but made by the first update, as PyTorch's optimizers do: the moments.
    std::vector<Tensor> from_update;
};

// Parameters, gradients and their buckets are flat buffers, as frameworks lay them out; the
// optimizer holds one tensor for each of its parameters. Those three together are model_states().
HeldStates held_states(const Job& job, const StageContent& stage);

} // namespace trainyard
