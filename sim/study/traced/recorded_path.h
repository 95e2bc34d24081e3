#pragma once

// The critical path of a recorded step: the chain of ops, launches and waits, over all recorded
// ranks, that made it as long as it was.

#include "sim/traces/run_summary.h"

namespace trainyard {

// Fills `path` of the summary, from the first step that all ranks have, rebuilt with what ops took
// there. Nothing where it cannot be rebuilt.
void add_critical_path(RunSummary& run, const JobTrace& job, const WorkControl& work = {});

} // namespace trainyard
