#pragma once

// Layouts in words.

#include "sim/study/scenario.h"

namespace trainyard {

// "tp 4, pp 2, dp 8, zb-v, zero 1, recompute full": sizes of 1 and defaults are left out. Requires
// dp.
std::string described(const Scenario& scenario);

} // namespace trainyard
