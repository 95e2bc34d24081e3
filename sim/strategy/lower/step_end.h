#pragma once

// What follows the last backward pass of a step on one stage.

#include "sim/strategy/lower/data_parallel.h"

namespace trainyard {

// Reduces what is left of the gradients (tied embeddings included), agrees on their norm, updates
// the stage's share of the parameters, publishes them, and lets the host close the step.
void write_step_end(StageWriter& writer, const StageContent& stage, int stage_number,
                    DataParallel& data_parallel);

// The update alone, with what the host does about it. Requires reduced gradients.
void write_update(StageWriter& writer, const StageContent& stage);

} // namespace trainyard
