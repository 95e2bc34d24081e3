#pragma once

// Launch variables of a scenario: which exist, what they accept, and what they do to a prediction.

#include "sim/base/diagnostic.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace trainyard {

// Errors: a value with which the library ends the job. Warnings: a value that it replaces by
// another, a variable nobody reads, or one whose effect on a real cluster is not part of the
// prediction. Pointers are below "/environment". `followed`: those whose effect is (effects_of).
Problems check_environment(const std::map<std::string, std::string>& environment,
                           const std::set<std::string>& followed = {});

// Whether any library reads the variable, as far as is known here.
bool is_read(std::string_view name);

// Whether the variable is known and its library takes the value as it is.
bool is_accepted(std::string_view name, std::string_view value);

} // namespace trainyard
