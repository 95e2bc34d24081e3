#pragma once

// Pictures and tables of a file's views, without a display.

#include <string>
#include <vector>

namespace trainyard::gui {

struct HeadlessOptions {
    std::vector<std::string> files;
    std::string screenshot;
    std::string export_dir;
    std::string view;
    std::string size = "1600x1000";

    bool wanted() const { return !screenshot.empty() || !export_dir.empty(); }
};

// As --view takes them.
std::vector<std::string> view_keys();

// Returns an ExitCode; problems go to stderr as the command line says them.
int run_headless(const HeadlessOptions& options);

} // namespace trainyard::gui
