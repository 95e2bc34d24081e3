#pragma once

// Programs beside this one that do some of its commands.

#include <string>
#include <vector>

namespace trainyard {

// Runs the program of a command ("calibrate", "gui") in place of this one; returns an ExitCode only
// where that cannot be.
int run_sister_program(const std::string& command, const std::vector<std::string>& arguments);

} // namespace trainyard
