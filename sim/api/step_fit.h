#pragma once

// Profiles from somebody's own steps and recorded steps: what `trainyard fit --steps` and
// `fit --trace` do.

#include "sim/report/fit/own_steps_text.h"
#include "sim/study/traced/trace_rates.h"

namespace trainyard {

struct OwnStepsQuestion {
    std::vector<std::string> files; // of records
    std::string base;               // profile; empty: as the records say
    std::string target;             // scenario that further runs are chosen for; or empty
};

// Steps that contradict the others are left out of the fit, and named; where the only one
// contradicts the profile that is the problem. Throws WorldError and Cancelled.
Checked<OwnStepsReport> fit_own_steps(const OwnStepsQuestion& question, Session& session,
                                      const WorkControl& work);

// The profile's file. `name`: of the profile.
Json profile_of(const OwnStepsReport& report, const std::string& name);

struct TraceFitQuestion {
    std::vector<std::string> files; // of the ranks of one run
    std::string scenario;           // of the same job
    std::string base;               // profile; empty: as the scenario says
    std::string name;               // of the profile
};

Checked<TraceFit> fit_recorded_step(const TraceFitQuestion& question, Session& session,
                                    const WorkControl& work);

} // namespace trainyard
