#pragma once

// Layouts that a plan found, as scenarios and as settings of the frameworks that run them.

#include "sim/study/scenario.h"

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

// For work that should not be done in vain: throws WorldError where the folder cannot be written.
void require_writable(const PlanExportOptions& options);

struct PlannedScenario {
    std::string name; // of its files, without what ends it: "1", "h100-32"
    Scenario scenario;
    std::filesystem::path base; // where its paths start
};

// Writes NAME.json and, for each kind of jobs, NAME-KIND.sh (or .json, .toml). Says on stderr what
// settings of a framework cannot say, and which layouts it does not have.
void export_plan(const PlanExportOptions& options, const std::vector<PlannedScenario>& planned);

} // namespace trainyard
