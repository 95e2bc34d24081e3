#pragma once

// Runs of which some ops are recorded.

#include "sim/engine/engine.h"

namespace trainyard::test {

// Two lanes of three; of three steps the last two.
inline RunControl recording_some(int steps)
{
    RunControl control;
    control.steps = steps;
    control.record = {[](LaneId lane) { return lane.value % 3 != 1; },
                      static_cast<std::uint16_t>(steps == 3 ? 1 : 0)};
    return control;
}

} // namespace trainyard::test
