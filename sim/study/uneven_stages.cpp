#include "sim/study/uneven_stages.h"

#include <cstddef>

namespace trainyard {

std::vector<int> uneven_stages(int layers, int stages, int leading_dense_layers)
{
    int more = layers % stages;
    std::vector<int> out(static_cast<std::size_t>(stages), layers / stages);
    const int first = leading_dense_layers > 0 ? 0 : 1;
    for (int i = 0; i < stages - 1 && more > 0; ++i, --more)
        ++out[static_cast<std::size_t>((first + i) % (stages - 1))];
    return out;
}

} // namespace trainyard
