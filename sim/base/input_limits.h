#pragma once

// How much a file may hold, by what it is for. The bounds keep a wrong file cheap: a second and a
// few hundred megabytes of memory at most.

#include "sim/base/json.h"

namespace trainyard {

// Scenarios, topologies, models, profiles and their parts; the largest shipped one has 50 kB.
inline constexpr JsonLimits input_limits{.max_bytes = 16U << 20, .max_values = 1'000'000};

// Measured runs: 600 of them have 1 MB and 30,000 values.
inline constexpr JsonLimits record_limits{.max_bytes = 64U << 20, .max_values = 2'000'000};

} // namespace trainyard
