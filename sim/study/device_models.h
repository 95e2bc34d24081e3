#pragma once

// A job whose ranks run on devices of different models.

#include "sim/cost/device.h"
#include "sim/study/inputs.h"
#include "sim/topology/topology.h"

namespace trainyard {

// The first rank's device of another model than `device`, whose constants would time all ranks and
// bound their memory; names of one model (aliases) are one. Located at that device in `input`, the
// cluster as the scenario has it. Devices without a rank may be of any model.
Problems device_model_problems(const Topology& topology, const Device& device, int world,
                               const Input& input);

} // namespace trainyard
