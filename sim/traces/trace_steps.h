#pragma once

// Where the steps of a recorded rank begin and end.

#include "sim/traces/rank_activity.h"

namespace trainyard {

// Fills `steps` and `step_source` of the activity, whose ops are in time. Steps are those that the
// profiler annotated; else what repeats in the kernels of the stream that computes most, from the
// first kernel of a period on, unless it holds no update and may be a part of a step; else all is
// one step.
void find_steps(const RankTrace& trace, RankActivity& activity);

// The length in kernels of what repeats: at least nine of ten names come again at that distance,
// and so do all that come again at a longer one, such as an optimizer's behind several
// micro-batches; the shortest such. 0: there is none with three kernels or more that fits in twice.
std::size_t period_of(const std::vector<TraceNameId>& names);

// Whether kernels run before the first repetition or behind the last alone: then what repeats may
// be a layer or a micro-batch of a single step.
bool is_part_of_step(const std::vector<TraceNameId>& names, std::size_t period);

// The step in which an op begins at `time`, or none.
std::optional<std::size_t> step_at(const std::vector<TraceStep>& steps, TraceTime time);

} // namespace trainyard
