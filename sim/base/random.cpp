#include "sim/base/random.h"

#include <cmath>
#include <numbers>

namespace trainyard {

double Random::normal()
{
    const double u = 1.0 - uniform(); // in (0, 1]: its logarithm is finite
    const double angle = 2.0 * std::numbers::pi * uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(angle);
}

} // namespace trainyard
