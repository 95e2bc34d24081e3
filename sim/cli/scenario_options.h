#pragma once

// Options that every command on scenarios takes.

#include "sim/study/scenario.h"

namespace CLI {
class App;
}

namespace trainyard {

struct ScenarioOptions {
    std::vector<std::string> changes;   // --set field=value
    std::optional<std::string> profile; // name or path
    std::optional<std::string> fidelity;
    std::optional<std::string> engine;
    std::optional<int> steps;
    bool no_fold = false;

    bool operator==(const ScenarioOptions&) const = default;
};

void add_scenario_options(CLI::App& app, ScenarioOptions& options);

// The scenario with the options applied, as if its file said so.
Checked<ScenarioFile> read_scenario(const std::string& path, const ScenarioOptions& options);

} // namespace trainyard
