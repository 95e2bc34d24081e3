#pragma once

#include <filesystem>
#include <string_view>

namespace trainyard {

// Version of this program, such as "0.1.0".
std::string_view version();

// The folder that holds calibrate/profiles, topologies and scenarios: the environment variable
// TRAINYARD_DATA if set, else share/trainyard of the installation that the running program belongs
// to, else the source tree of the build tree that it lies in.
std::filesystem::path data_dir();

} // namespace trainyard
