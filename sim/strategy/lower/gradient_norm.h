#pragma once

// How ranks come to know the norm of all gradients, by which they clip them.

#include "sim/strategy/lower/stage_writer.h"

namespace trainyard {

// The norm is a sum over all ranks that hold different parameters. Plain DDP ranks hold the same
// ones and agree without asking. Else all ranks agree before any of them updates; or, where stages
// end in turn, each adds its part to what the stage before hands on, updates, and would roll back
// if the whole, known later, asked for it (post-validation; Qi 2023, section 4). Gradients are
// taken to be in order: no roll-back is timed.
void write_gradient_norm(StageWriter& writer, int stage);

} // namespace trainyard
