#pragma once

// Launch variables of a scenario: which exist, what they accept, and what they do to a prediction.

#include "sim/base/diagnostic.h"

#include <map>
#include <set>
#include <string>

namespace trainyard {

// Errors: a value that the library refuses. Warnings: a variable nobody reads, or one whose effect
// on a real cluster is not part of the prediction. Pointers are below "/environment".
// `followed`: those whose effect is (effects_of).
Problems check_environment(const std::map<std::string, std::string>& environment,
                           const std::set<std::string>& followed = {});

} // namespace trainyard
