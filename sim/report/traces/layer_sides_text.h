#pragma once

// Layers and micro-batches of a recorded step beside those of the simulated one.

#include "sim/base/json.h"
#include "sim/report/traces/report_part.h"
#include "sim/study/traced/layer_sides.h"

namespace trainyard {

// "x 1.08": simulated over recorded; empty where either is nothing.
std::string ratio_text(Seconds recorded, Seconds simulated);

// In the order in which it runs. Empty tables where nothing computes.
std::vector<ReportPart> stage_parts(const std::vector<StageSides>& stages);

Json to_json(const std::vector<StageSides>& stages);

} // namespace trainyard
