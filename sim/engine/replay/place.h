#pragma once

// Gives every value of a tape a column, one after the other to values that do not live together.

#include "sim/engine/replay/slices.h"

namespace trainyard::engine::replay {

// `kept` values have it to themselves.
void place_values(Tape& tape, const Cohorts& cohorts, const Slices& slices,
                  const std::vector<Value>& kept);

} // namespace trainyard::engine::replay
