#include "sim/strategy/bound/turns.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace trainyard {

TurnChains operator*(const TurnChains& first, const TurnChains& second)
{
    TurnChains out;
    for (std::size_t i = 0; i < turn_states; ++i)
        for (std::size_t j = 0; j < turn_states; ++j) {
            Seconds longest(-std::numeric_limits<double>::infinity());
            for (std::size_t k = 0; k < turn_states; ++k)
                longest = std::max(longest, first.from[i][k] + second.from[k][j]);
            out.from[i][j] = longest;
        }
    return out;
}

// By squaring: associative as any matrix product.
Seconds TurnChains::compute_after(std::int64_t layers) const
{
    std::optional<TurnChains> power;
    TurnChains square = *this;
    for (std::int64_t left = layers; left > 0; left /= 2) {
        if (left % 2 == 1)
            power = power ? *power * square : square;
        square = square * square;
    }
    return power->from[0][0];
}

} // namespace trainyard
