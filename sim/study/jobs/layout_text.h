#pragma once

// Layouts in words.

#include "sim/study/scenario.h"

#include <set>

namespace trainyard {

// "tp 4, pp 2, dp 8, zero 1, recompute full": sizes of 1 and defaults are left out. Requires dp.
std::string described(const Scenario& scenario);

// "1, 2, 4".
std::string listed(const std::set<int>& sizes);

// "96 or 104": the nearest batches below and above that some number of replicas divides. Requires
// one or more numbers of replicas.
std::string nearest_batches(std::int64_t batch, const std::set<int>& replicas);

} // namespace trainyard
