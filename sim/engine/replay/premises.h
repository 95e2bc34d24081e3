#pragma once

// What must hold of all lanes of a cohort, or of all numbers, for one order to serve them.

#include "sim/engine/replay/order.h"
#include "sim/engine/replay/tape.h"

namespace trainyard::engine::replay {

// By cohort, group slot: whether its groups join stages of a pipeline. Nothing if those of one slot
// differ.
using JoinsStages = std::vector<std::vector<std::uint8_t>>;
std::optional<JoinsStages> find_stages(const Binding& binding, const Cohorts& cohorts);

// Nothing if some messages of a part are eager and others are not.
std::optional<IsEager> find_eager(const Cohorts& cohorts, Tables& tables);

// Empty by cohort where nothing does.
SlowsCompute find_slowing(const Binding& binding, const Cohorts& cohorts, Tables& tables);

// Whether some time could pass the end of the clock, even if nothing ran at the same time. Lanes
// start by `latest_start`.
bool could_overflow(const Cohorts& cohorts, const Tape& tape, int steps, double latest_start);

} // namespace trainyard::engine::replay
