#pragma once

// Layouts that a plan found, as scenarios and as settings of the frameworks that run them.

#include "sim/api/layout_plan.h"
#include "sim/base/files.h"
#include "sim/study/jobs/job_export.h"

namespace trainyard {

struct ExportedPlan {
    std::vector<FilesTogether::Named> files; // of the folder
    std::string talk;                        // which settings are not written, and why
};

// NAME.json and, for each kind of jobs, NAME-KIND.sh (or .json, .toml): settings that would run
// another layout are left out.
ExportedPlan exported_plan(const std::vector<PlannedScenario>& planned,
                           const std::vector<JobKind>& kinds, const std::filesystem::path& folder);

} // namespace trainyard
