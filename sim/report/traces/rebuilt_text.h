#pragma once

// A recorded step that was run again, as parts of the report of a recorded run.

#include "sim/report/traces/report_part.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// With what its critical path is made of. Requires a rebuilt step.
ReportPart rebuilt_step_part(const RunSummary& run);
std::string scaled_step_sentence(const ScaledStep& step);
ReportPart scaled_step_part(const ScaledStep& step);

} // namespace trainyard
