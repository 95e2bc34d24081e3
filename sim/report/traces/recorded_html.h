#pragma once

// A recorded run as a page.

#include "sim/study/traced/side_by_side.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// The simulated step of the same job and its comparison.
struct SimulatedBeside {
    const Outcome& outcome;
    const SideBySide& sides;
};

// One HTML file that needs no network: the diagnosis, kinds of time of each rank, kernels,
// transfers, who waits for whom, the step run again, a timeline; with `beside` (may be null) the
// simulated step next to each. Names in it are escaped.
std::string recorded_html(const RunSummary& run, const JobTrace& job,
                          const SimulatedBeside* beside);

} // namespace trainyard
