#pragma once

// From a job and the work of its layers to the program of one step.

#include "sim/strategy/lower/job_work.h"
#include "sim/strategy/plan.h"

namespace trainyard {

Plan lower(const Job& job, const JobWork& work);

} // namespace trainyard
