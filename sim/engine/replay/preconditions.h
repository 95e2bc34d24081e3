#pragma once

// What must hold of all lanes of a class, and of all numbers, for one order of ops to serve them.

#include "sim/engine/replay/order.h"
#include "sim/engine/replay/step_code.h"

namespace trainyard::engine::replay {

// Whether the groups of a slot join stages of a pipeline, by lane class and group slot. Nothing if
// those of one slot differ.
using JoinsStages = std::vector<std::vector<std::uint8_t>>;
std::optional<JoinsStages> find_stages(const Binding& binding, const LaneClasses& lane_classes);

// Finds which messages are eager. Nothing if some messages of a part are eager and others are not.
std::optional<IsEager> find_eager(const LaneClasses& lane_classes, Tables& tables);

// Finds which ops slow compute; empty for a lane class where none does.
SlowsCompute find_slowing(const Binding& binding, const LaneClasses& lane_classes, Tables& tables);

// Whether some time could pass the end of the clock, even if nothing ran at the same time. Lanes
// start by `latest_start`.
bool could_overflow(const LaneClasses& lane_classes, const StepCode& code, int steps,
                    double latest_start);

// Whether a transfer of the next step may slow a compute op of this one.
bool steps_interfere(const LaneKind& kind, const Precedence& precedence,
                     const std::vector<std::uint8_t>& slows);

// Whether a transfer may last until a compute op of the step after the next, and slow it.
bool outlasts_a_step(const LaneKind& kind, const Precedence& precedence,
                     const std::vector<std::uint8_t>& slows);

} // namespace trainyard::engine::replay
