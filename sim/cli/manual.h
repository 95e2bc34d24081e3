#pragma once

// Manual pages, from what commands say of themselves in --help.

#include <string>

namespace CLI {
class App;
}

namespace trainyard {

// The page of a command in section 1, as man(7) macros. `path` is how it is called, "trainyard
// topo"; the page of "trainyard topo" is trainyard-topo(1). Commands below it are described in it;
// those of the program itself ("trainyard") are named, for they have pages of their own.
std::string manual_page(const CLI::App& command, const std::string& path);

// Adds to another program the option, not shown in its help, that prints its page: so one command
// line makes the pages of all. `path` as above. Throws CLI::Success after printing.
void add_manual_option(CLI::App& program, const std::string& path);

} // namespace trainyard
