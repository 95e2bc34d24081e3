#pragma once

// A recorded step that was run again, as sections of the text of a recorded run.

#include "sim/traces/run_summary.h"

namespace trainyard {

std::string rebuilt_step_text(const RebuiltStep& step, std::size_t width);
// What its parts are, in shares; empty where none is known.
std::string critical_path_text(const std::vector<RecordedPathShare>& path, std::size_t width);
std::string scaled_step_text(const ScaledStep& step, std::size_t width);

} // namespace trainyard
