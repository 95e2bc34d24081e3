#pragma once

// What command lines get wrong, in words that help.

#include <string>

namespace CLI {
class App;
}

namespace trainyard {

// A line for each argument that is no option of `app` but nearly one; empty: there is none.
std::string near_options(const CLI::App& app, int argc, char** argv);

// The option or operand of a file that was given as "": an unset variable of a script. Empty: there
// is none.
std::string empty_file_name(const CLI::App& app);

} // namespace trainyard
