#pragma once

// Rates of a profile from a recorded step: where classes of kernels or of transfers take another
// time than simulated, rates are others.

#include "sim/study/own_steps/rate_fit.h"
#include "sim/study/traced/trace_fit.h"

namespace trainyard {

// Whose constants a trace is to tell.
struct TracedTarget {
    const ScenarioFile& scenario;
    const Topology& topology; // the scenario's
    Json base;                // a profile
    std::string name;         // of the profile to be made
    std::string trace;        // file
};

// Fits the rates of `base` (a profile) so that the classes of `scenario` take the recorded times:
// products, attention, all other kernels, updates, and transfers inside and across domains and
// all-to-alls, each to 5 %, with the prior of own_rates(). What tells too little is left out:
// classes of less than 1 % of the device's time, transfers of less than 1 MB and those whose
// beginning is not known. Host times are left alone, since a profiler slows the host. Problems
// where nothing is left, kernels that are not recognised take a third of the device's time, a rate
// would be more than twice the stated one (or six times faster than it is believed to vary) or a
// class of a tenth of the recorded time still takes twice as long with the new rates (the recording
// is of another job), or a constant leaves its range. `trace` names the file as a source.
Checked<TraceFit> fit_trace(const RunSummary& recorded, const ScenarioFile& scenario,
                            const Json& base, Session& session, const std::string& name,
                            const std::string& trace, const WorkControl& work = {});

// What a whole recorded job tells: the rates above, of kernels as they are alone on the device,
// then curves and losses (traced_constants.h) on `topology`, the scenario's.
Checked<TraceFit> fit_traced_job(const JobTrace& job, const RunSummary& recorded,
                                 const TracedTarget& target, Session& session,
                                 const WorkControl& work = {});

} // namespace trainyard
