#pragma once

// `trainyard fit --trace`: a profile whose rates a recorded step tells.

#include "sim/cli/exit_codes.h"

#include <string>
#include <vector>

namespace trainyard {

struct FitTraceCommand {
    std::vector<std::string> files; // of the ranks of one run
    std::string scenario;           // of the same job
    std::string base;               // profile; empty: as the scenario says
    std::string output;
    std::string name; // of the profile; empty: that of its file
    bool json = false;
};

ExitCode run_fit_trace(const FitTraceCommand& command);

} // namespace trainyard
