#pragma once

// Which jobs are like one another: own steps narrow the intervals of like jobs alone.

#include "sim/cost/own_steps_mark.h"
#include "sim/strategy/job.h"
#include "sim/study/scenario.h"

namespace trainyard {

JobClass job_class(const Scenario& scenario, const Job& job);

} // namespace trainyard
