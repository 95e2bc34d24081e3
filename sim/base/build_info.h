#pragma once

#include <filesystem>
#include <string_view>

namespace trainyard {

// Version of this program, such as "0.1.0".
std::string_view version();

// The folder that holds calibrate/profiles, topologies and scenarios: the environment variable
// TRAINYARD_DATA if set, else what `set_data_dir` was given, else share/trainyard of the
// installation that the running program (or the module with this code) belongs to, else the source
// tree of the build tree that it lies in.
std::filesystem::path data_dir();

// For a library whose data lie beside it, not beside the program that loads it. Before anything is
// read, on one thread.
void set_data_dir(std::filesystem::path folder);

} // namespace trainyard
