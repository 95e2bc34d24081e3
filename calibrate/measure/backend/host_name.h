#pragma once

#include <string>

namespace trainyard {

// What this host calls itself.
std::string host_name();

} // namespace trainyard
