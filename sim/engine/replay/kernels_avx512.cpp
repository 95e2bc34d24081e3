// Built with AVX-512: the greater of two 64-bit integers is one instruction.

#include "sim/engine/replay/kernels.h"

#define TRAINYARD_KERNELS "avx512"

namespace trainyard::engine::replay::avx512 {

#include "sim/engine/replay/kernels_body.h"

} // namespace trainyard::engine::replay::avx512
