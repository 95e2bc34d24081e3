#pragma once

// Runs one scenario under many seeds, on all cores.

#include "sim/study/samples.h"
#include "sim/study/stages.h"

namespace trainyard {

// Seeds run.seed, run.seed + 1, ...: everything but what is random is shared. The problems of the
// lowest seed that has some. Throws Cancelled. Requires count >= 1 and parts with a plan.
Checked<Samples> sample_steps(const Parts& parts, const Scenario& scenario, int count,
                              const WorkControl& work);

} // namespace trainyard
