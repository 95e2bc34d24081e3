#pragma once

// How a step answers to changes of its job: each is simulated, none is derived from the outcome.

#include "sim/study/sensitivity/advice.h"
#include "sim/study/sensitivity/pace.h"
#include "sim/study/sensitivity/scaling.h"
#include "sim/study/sensitivity/what_if.h"

namespace trainyard {

struct Sensitivity {
    std::optional<Scaling> scaling; // when it was asked for, of a job that fits
    std::optional<Pace> pace;       // when something perturbs the job
    AdviceReport advice;            // when it was asked for
    std::vector<WhatIf> what_if;    // likewise
};

struct SensitivityRequest {
    bool scaling = true;                       // of the smallest feasible size
    std::optional<AdviceOptions> advice = {};  // else none
    std::optional<WhatIfOptions> what_if = {}; // else none
};

// In the fidelity of the outcome, which is that of the scenario. Problems are those of what-ifs:
// other changes that cannot be run are left out. Throws Cancelled.
Checked<Sensitivity> sensitivity_of(Session& session, const ScenarioFile& scenario,
                                    const Outcome& outcome, const SensitivityRequest& asked = {});

} // namespace trainyard
