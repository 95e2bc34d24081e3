#pragma once

// Which layers each virtual pipeline stage holds.

#include "sim/strategy/job.h"

namespace trainyard {

// Layers of virtual stage chunk * pp + stage, front to back: the embedding opens the first stage,
// the head closes the last; the rest as `stage_layers` says, else even.
std::vector<std::vector<LayerKind>> cut_into_stages(const Job& job);

// Transformer layers of each virtual stage; requires a transformer.
std::vector<int> layers_per_stage(const Job& job);

} // namespace trainyard
