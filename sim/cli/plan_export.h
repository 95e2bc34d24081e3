#pragma once

// Layouts that a plan found, as scenarios and as settings of the frameworks that run them.

#include "sim/api/layout_plan.h"
#include "sim/base/files.h"

namespace CLI {
class App;
}

namespace trainyard {

struct PlanExportOptions {
    std::string folder;             // empty: nothing is exported
    std::vector<std::string> kinds; // of jobs

    bool is_used() const { return !folder.empty(); }
};

void add_plan_export_options(CLI::App& app, PlanExportOptions& options);

struct ExportedPlan {
    std::vector<FilesTogether::Named> files; // of the folder
    std::string talk;                        // which settings are not written, and why
};

// NAME.json and, for each kind of jobs, NAME-KIND.sh (or .json, .toml): settings that would run
// another layout are left out.
ExportedPlan exported_plan(const PlanExportOptions& options,
                           const std::vector<PlannedScenario>& planned);

} // namespace trainyard
