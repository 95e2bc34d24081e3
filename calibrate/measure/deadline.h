#pragma once

// Waiting for what may not come.

#include <algorithm>
#include <chrono>

namespace trainyard {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// 0 once `end` has passed.
inline Milliseconds left_until(Clock::time_point end)
{
    return std::max(Milliseconds(0), std::chrono::duration_cast<Milliseconds>(end - Clock::now()));
}

} // namespace trainyard
