#pragma once

// The report's charts, as <svg> for a page that has the palette.

#include "sim/report/summary.h"
#include "sim/report/timeline/memory_curve.h"

namespace trainyard {

// Two stacked bars: the rank that sets the pace, and the mean of all.
std::string breakdown_figure(const Summary& summary);

// Peak of each stage by kind, against the capacity of a device.
std::string memory_figure(const MemoryEstimate& memory);

// What recorded ranks hold over the step; at most four of them. Empty when nothing changes or the
// records do not tell.
std::string memory_over_time_figure(const Outcome& outcome, const std::vector<LaneMemory>& lanes);

// The same by kind, of the recorded rank that holds most. Empty without named tensors.
std::string memory_by_kind_figure(const Outcome& outcome, const std::vector<LaneMemory>& lanes);

// Lines across a chart of that height at round numbers of bytes, named at its left.
std::string byte_axis(double full_bytes, double height);

} // namespace trainyard
