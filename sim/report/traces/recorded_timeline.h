#pragma once

// A recorded step as a picture, alone or with the simulated one.

#include "sim/report/timeline/timeline.h"
#include "sim/traces/job_trace.h"

namespace trainyard {

// The first step that all ranks have, of at most four of them; a row for each stream, the busiest
// first. Empty where the trace has no times.
Timeline recorded_timeline(const JobTrace& job);

// Below it the simulated step, both from their beginnings. Requires records.
Timeline both_timelines(const JobTrace& job, const Outcome& simulated);

} // namespace trainyard
