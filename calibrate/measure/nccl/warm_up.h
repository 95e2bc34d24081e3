#pragma once

#include "calibrate/measure/nccl/cuda_api.h"

namespace trainyard {

// Keeps the device at its heaviest work for `time` of the host's clock, so that its clocks and
// temperature are those of long runs: large GEMMs, or copies where there is no library for them.
// Waits. Throws MeasureFailure.
void warm_up(CudaApi& cuda, Seconds time);

} // namespace trainyard
