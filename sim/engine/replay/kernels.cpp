#include "sim/engine/replay/kernels.h"

#include <vector>

namespace trainyard::engine::replay {

namespace baseline {
extern const Kernels kernels;
}
#ifdef TRAINYARD_X86_KERNELS
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}
#endif

namespace {

std::vector<const Kernels*> find_usable()
{
    std::vector<const Kernels*> usable{&baseline::kernels};
#ifdef TRAINYARD_X86_KERNELS
    if (__builtin_cpu_supports("avx2"))
        usable.push_back(&avx2::kernels);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        usable.push_back(&avx512::kernels);
#endif
    return usable;
}

} // namespace

std::span<const Kernels* const> usable_kernels()
{
    static const std::vector<const Kernels*> usable = find_usable();
    return usable;
}

} // namespace trainyard::engine::replay
