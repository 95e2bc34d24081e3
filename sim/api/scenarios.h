#pragma once

// Scenarios as clients get them: from a file, from text, with changes.

#include "sim/study/scenario.h"

#include <span>
#include <string>
#include <vector>

namespace trainyard {

// "strategy.tp=8" each, as `--set` takes them. Every one that is no change is a problem.
Checked<std::vector<Override>> parse_changes(std::span<const std::string> changes);

// The scenario of a file, with changes. Throws WorldError when it cannot be read.
Checked<ScenarioFile> load_scenario(const std::string& path,
                                    std::span<const std::string> changes = {});

// The scenario that `text` (JSON, comments accepted) says, as if it stood in the file `path`, which
// need not exist: problems name it, and paths inside are relative to its folder.
Checked<ScenarioFile> scenario_of_text(const std::string& text, const std::string& path,
                                       std::span<const Override> changes = {});

// The folder that the paths of a scenario written to `output` start from; empty: the current one.
std::filesystem::path folder_of(const std::string& output);

// A scenario whose files lie from `folder` on, for a reader in the output's folder.
std::string scenario_text(Scenario scenario, const std::filesystem::path& folder,
                          const std::string& output);

// Where its settings disagree with each other, with the model and with the cluster; warnings too.
// Nothing is run.
Problems scenario_problems(const ScenarioFile& file);

} // namespace trainyard
