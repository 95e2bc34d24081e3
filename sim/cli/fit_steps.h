#pragma once

// `trainyard fit --steps`: a profile from somebody's own measured steps.

#include "sim/cli/exit_codes.h"

#include <string>
#include <vector>

namespace trainyard {

struct FitStepsCommand {
    std::vector<std::string> files; // of records
    std::string base;               // profile; empty: as the records say
    std::string target;             // scenario that further runs are chosen for
    std::string output;
    std::string name; // of the profile; empty: that of its file
    bool json = false;
};

ExitCode run_fit_steps(const FitStepsCommand& command);

} // namespace trainyard
