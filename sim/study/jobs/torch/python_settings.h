#pragma once

// Configurations written in Python: dataclasses made by keyword arguments.

#include "sim/base/json.h"

namespace trainyard {

// The member of a value that names what was called for it: "FullAC.Config".
inline constexpr std::string_view called_name = "(call)";

// That of the function of another file which made it, and of those that were given it since: both
// may set what is not seen here.
inline constexpr std::string_view made_elsewhere = "(made by)";
inline constexpr std::string_view passed_through = "(passed through)";

struct PythonSettings {
    std::string name; // of the variable, or of the function that returns it
    Json values;      // keyword arguments by name, others as "args"

    bool operator==(const PythonSettings&) const = default;
};

// "NAME = Config(...)", and functions that return one, changed by "config.part.field = value" or
// not. Nothing is executed: what is no literal, no call and no name of these is null.
std::vector<PythonSettings> python_settings(std::string_view text);

} // namespace trainyard
