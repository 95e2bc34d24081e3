#pragma once

// Narrow copies of matrices that are held in 16 bit.

#include "sim/strategy/held_layer.h"

namespace trainyard {

// Are matrices cast once per step, and the casts kept? Not where they are gathered in the narrow
// format, nor with FSDP (they arrive with each gather) or LoRA.
bool casts_parameters(const Job& job);

// Parameters of layers whose products run in the narrow format.
double narrow_parameters(const std::vector<HeldLayer>& layers);

} // namespace trainyard
