#pragma once

// A recorded step beside the simulated one, for a person and for programs.

#include "sim/base/json.h"
#include "sim/report/traces/report_part.h"
#include "sim/study/traced/trace_fit.h"

namespace trainyard {

// Kinds of time, kernels and transfers, then each stage's layers.
std::vector<ReportPart> side_by_side_parts(const SideBySide& sides);
std::string side_by_side_text(const SideBySide& sides, std::size_t width);
Json to_json(const SideBySide& sides);

std::string trace_fit_text(const TraceFit& fit, std::size_t width);
Json to_json(const TraceFit& fit);

} // namespace trainyard
