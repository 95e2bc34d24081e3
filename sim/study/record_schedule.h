#pragma once

// Pipeline schedules as records name them.

#include "sim/strategy/schedule.h"

#include <string_view>

namespace trainyard {

// The schedule that a record's words mean; null where they name none, or one of the usual ones that
// the sizes decide between (1F1B, interleaved).
const PipelineSchedule* schedule_named_in(std::string_view words);

} // namespace trainyard
