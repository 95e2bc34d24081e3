#pragma once

// Where the steps of a recorded rank begin and end.

#include "sim/traces/rank_activity.h"

namespace trainyard {

// Fills `steps` and `step_source` of the activity, whose ops are in time. Steps are those that the
// profiler annotated; else what repeats in the kernels of the busiest stream, from the first
// kernel of a period on; else all is one step.
void find_steps(const RankTrace& trace, RankActivity& activity);

// The length of the shortest period, in kernels, with which at least nine of ten names repeat; 0:
// there is none with three kernels or more that fits in twice.
std::size_t period_of(const std::vector<TraceNameId>& names);

// The step in which an op begins at `time`, or none.
std::optional<std::size_t> step_at(const std::vector<TraceStep>& steps, TraceTime time);

} // namespace trainyard
