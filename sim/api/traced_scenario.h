#pragma once

// Traces of a job and the scenario of the same job, for what looks at both.

#include "sim/study/session.h"
#include "sim/study/traced/side_by_side.h"

namespace trainyard {

// The ranks of all files, or every file's problem.
Checked<JobTrace> read_job_trace(const std::vector<std::string>& files, const WorkControl& work);

// The problem of a trace that says nothing of when ops ran, where that is asked; or none.
Problems without_timeline(const RunSummary& run, const std::string& trace);

// A problem for each output (empty: none) that is one of the inputs, which would be lost, or the
// same file as another output.
Problems lost_files(const std::vector<std::string>& outputs,
                    const std::vector<std::string>& inputs);

struct TracedScenario {
    ScenarioFile file;
    Outcome outcome;
};

// Simulates the scenario, with records of the lanes of a trace. What its constants expect of
// transfers is added to `run`. Problems where it is not of the recorded job, located in `trace`.
Checked<Outcome> simulate_beside(const ScenarioFile& scenario, RunSummary& run,
                                 const std::string& trace, Session& session,
                                 const WorkControl& work);

// The same of a file with `changes` ("FIELD=VALUE").
Checked<TracedScenario> simulate_beside(const std::string& scenario,
                                        const std::vector<std::string>& changes, RunSummary& run,
                                        const std::string& trace, Session& session,
                                        const WorkControl& work);

} // namespace trainyard
