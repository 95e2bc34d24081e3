#pragma once

// What a plan prints and writes: all of it or, where something fails, nothing.

#include "sim/api/plan_export.h"

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

struct PlanOutput {
    std::string scenario; // file of the best; empty: none, as of the others
    std::string csv;
    std::string html;
    PlanExportOptions exports;
    bool json = false; // on stdout, in place of text
};

// Two of the files that are read and written under one path, where one would replace the other, and
// a folder for exports that holds something. `read`: by the options that name them.
Problems problems_of(const PlanOutput& output,
                     const std::vector<std::pair<std::string, std::string>>& read);

// For work that should not be done in vain: throws WorldError where something cannot be written.
void require_writable(const PlanOutput& output);

struct PlanTexts {
    std::string data; // for stdout
    std::string csv;
    std::string html;
    std::optional<PlannedScenario> best;
    std::vector<PlannedScenario> planned; // to be exported
};

// Prints, writes, and says on stderr what was written and which settings were not.
void deliver(const PlanOutput& output, const PlanTexts& texts);

} // namespace trainyard
