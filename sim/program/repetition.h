#pragma once

// The stretch of a step that repeats: a pipeline's steady state.

#include "sim/program/program.h"

namespace trainyard {

// Uses [first, first + period x times) of a role: the same blocks and layers again and again, each
// time with micro-batches higher by `micro_batches`. No times: nothing repeats.
struct Repetition {
    std::uint32_t first = 0;
    std::uint32_t period = 0;
    std::uint32_t times = 0;
    std::uint32_t micro_batches = 0;

    std::uint32_t uses() const { return period * times; }
};

Repetition find_repetition(const Role& role);

} // namespace trainyard
