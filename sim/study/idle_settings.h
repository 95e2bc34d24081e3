#pragma once

#include "sim/strategy/job.h"
#include "sim/study/scenario.h"

namespace trainyard {

// Warnings: settings that the scenario states and that this job cannot feel.
Problems idle_settings(const Scenario& scenario, const Job& job);

} // namespace trainyard
