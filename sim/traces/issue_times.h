#pragma once

// When the host issued the ops whose launch was not recorded: what streams, which run in order,
// tell of it.

#include "sim/traces/rank_activity.h"

namespace trainyard {

// Fills `queued_by` and `left_over` of ops without a launch. Requires ops in time.
//
// A stream runs in order, so an op was issued before any that stands behind it there. A profiler
// that records launches does so from some moment on, and the device still drains what was launched
// before: ops that stand before the first one of known launch on their stream are left over. That
// holds where most ops behind such a first one have their launch, and for kernels whose launches
// are never missing there; else launches are missing for another reason (a driver's call that the
// profiler does not record, a trace that was cut), and an op may have been issued at any time
// before it ran.
void find_issue_times(RankActivity& activity);

} // namespace trainyard
