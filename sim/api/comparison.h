#pragma once

// Scenarios side by side: what `trainyard compare` finds.

#include "sim/report/compare/compare.h"
#include "sim/study/session.h"

namespace trainyard {

struct ScenarioComparison {
    std::vector<ComparedRun> runs;
    Problems warnings;
};

// The first is the baseline. Scenarios that leave the fidelity open get the one that they have in
// common with the others. Problems of all of them together. Throws Cancelled.
Checked<ScenarioComparison> compare_scenarios(std::vector<ScenarioFile> files, Session& session,
                                              const WorkControl& work);

} // namespace trainyard
