// What every machine of the architecture can do.

#include "sim/engine/replay/kernels.h"

#define TRAINYARD_KERNELS "baseline"

namespace trainyard::engine::replay::baseline {

#include "sim/engine/replay/kernels_body.h"

} // namespace trainyard::engine::replay::baseline
