#include "sim/strategy/bound/turns.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr Seconds unreached(-std::numeric_limits<double>::infinity());

} // namespace

TurnChains operator*(const TurnChains& first, const TurnChains& second)
{
    TurnChains out;
    for (std::size_t i = 0; i < turn_states; ++i)
        for (std::size_t j = 0; j < turn_states; ++j) {
            Seconds longest = unreached;
            for (std::size_t k = 0; k < turn_states; ++k)
                longest = std::max(longest, first.from[i][k] + second.from[k][j]);
            out.from[i][j] = longest;
        }
    return out;
}

TurnChains TurnChains::none()
{
    TurnChains out;
    for (std::size_t i = 0; i < turn_states; ++i)
        for (std::size_t j = 0; j < turn_states; ++j)
            out.from[i][j] = i == j ? Seconds(0) : unreached;
    return out;
}

// By squaring: associative as any matrix product.
TurnChains TurnChains::repeated(std::int64_t times) const
{
    TurnChains power = none();
    TurnChains square = *this;
    for (std::int64_t left = times; left > 0; left /= 2) {
        if (left % 2 == 1)
            power = power * square;
        if (left > 1)
            square = square * square;
    }
    return power;
}

} // namespace trainyard
