#pragma once

// Gives every value of a tape a column, one after the other to values that do not live together.

#include "sim/engine/replay/slices.h"

namespace trainyard::engine::replay {

// By their last uses; those that come in and those of always have one to themselves.
void place_values(Tape& tape, const Cohorts& cohorts, const Slices& slices);

} // namespace trainyard::engine::replay
