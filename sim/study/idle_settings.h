#pragma once

#include "sim/engine/engine.h"
#include "sim/strategy/job.h"
#include "sim/study/scenario.h"

namespace trainyard {

// Warnings: settings that the scenario states and that this job cannot feel.
Problems idle_settings(const Scenario& scenario, const Job& job);

// Warnings: slowdowns that begin when the measured step, which began at `measured_from`, is over.
Problems idle_windows(const Scenario& scenario, const StepResult& result, SimTime measured_from);

} // namespace trainyard
