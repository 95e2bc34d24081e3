#pragma once

// What the transfers of one step may do to compute of another. The tape knows, when compute starts,
// the transfers of its own step and of the one before: of no other.

#include "sim/engine/replay/known.h"

namespace trainyard::engine::replay {

// Whether a transfer of the next step may slow a compute op of this one.
bool steps_interfere(const LaneKind& kind, const Known& known,
                     const std::vector<std::uint8_t>& slows);

// Whether a transfer may last until a compute op of the step after the next, and slow it.
bool outlasts_a_step(const LaneKind& kind, const Known& known,
                     const std::vector<std::uint8_t>& slows);

} // namespace trainyard::engine::replay
