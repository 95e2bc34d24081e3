#pragma once

// A recorded step that was run again, as sections of the text of a recorded run.

#include "sim/traces/scaled_step.h"

namespace trainyard {

std::string rebuilt_step_text(const RebuiltStep& step, std::size_t width);
std::string scaled_step_text(const ScaledStep& step, std::size_t width);

} // namespace trainyard
