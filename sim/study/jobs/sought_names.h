#pragma once

#include <string>
#include <vector>

namespace trainyard {

// Names of settings that a reader looked for.
struct SoughtNames {
    std::vector<std::string> missed; // not there
    std::vector<std::string> found;
};

} // namespace trainyard
