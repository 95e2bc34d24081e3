// Built with AVX2: comparing 64-bit integers is one instruction.

#include "sim/engine/replay/kernels.h"

#define TRAINYARD_KERNELS "avx2"

namespace trainyard::engine::replay::avx2 {

#include "sim/engine/replay/kernels_body.h"

} // namespace trainyard::engine::replay::avx2
