#pragma once

// A measured run as a scenario, with everything that had to be assumed.
//
// The rules look at the framework, its age and the physics, never at which record or table it is:
// they hold for runs nobody has looked at.

#include "sim/study/record.h"
#include "sim/study/scenario.h"

#include <tl/expected.hpp>

namespace trainyard {

struct RecordScenario {
    Scenario scenario;
    std::vector<std::string> assumptions; // in words, e.g. "recompute not stated: full"
    // Nobody said what was recomputed, and the framework has no habit: as much as memory demands.
    bool recompute_to_fit = false;
    bool recompute_parts = false; // of a layer, about half of its work, rather than all of it
    int layers_per_device = 0;    // of the fullest stage
};

// Why the record is not to be compared with anything; empty when it is.
std::string why_not_scored(const MeasuredRecord& record);

// Or why the record cannot be simulated.
tl::expected<RecordScenario, std::string> scenario_of(const MeasuredRecord& record);

} // namespace trainyard
