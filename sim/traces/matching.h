#pragma once

// Which collectives of recorded ranks are one, and what that tells of their clocks.

#include "sim/traces/job_trace.h"

namespace trainyard {

// Fills `collectives`, `clock_offsets` and `offset_spreads`: the n-th of a process group in a step
// is the n-th on all its ranks, and ends on all at one time. Complains where kinds or sizes of
// more than one in ten differ: the ranks are not of one run.
void match_collectives(JobTrace& job, Problems& problems);

} // namespace trainyard
