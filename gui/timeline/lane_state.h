#pragma once

// What a session keeps of the timeline's lanes: their order, what is pinned and hidden of them, and
// whose operations are recorded.

#include "gui/timeline/geometry.h"
#include "sim/report/timeline/recorded.h"

namespace trainyard::gui {

struct LaneState {
    LaneOrder order = LaneOrder::stage;
    LaneMarks marks;
    LaneChoice recorded;

    bool operator==(const LaneState&) const = default;
};

Json to_json(const LaneState& state);
// What is not known is left out: a session opens with what it has.
LaneState lane_state_from(const Json& json);

} // namespace trainyard::gui
