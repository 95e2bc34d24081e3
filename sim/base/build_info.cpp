#include "sim/base/build_info.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// The source tree of the build tree that the program lies in: its root holds a file that names it,
// so that programs themselves tell nothing of where they were built. Empty: it lies in none.
fs::path source_tree_of(const fs::path& program)
{
    for (fs::path folder = program.parent_path(); folder.has_relative_path();
         folder = folder.parent_path()) {
        std::ifstream mark(folder / TRAINYARD_SOURCE_MARK);
        std::string tree;
        if (std::getline(mark, tree))
            return tree;
    }
    return {};
}

fs::path data_of_this_program()
{
    std::error_code ignored; // no /proc: nothing is found
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    const fs::path installed =
        (program.parent_path() / TRAINYARD_DATA_FROM_PROGRAM).lexically_normal();
    if (fs::is_directory(installed, ignored))
        return installed;
    const fs::path tree = source_tree_of(program);
    return tree.empty() ? installed : tree; // where they are missed
}

} // namespace

std::string_view version()
{
    return TRAINYARD_VERSION;
}

std::filesystem::path data_dir()
{
    if (const char* chosen = std::getenv("TRAINYARD_DATA"); chosen != nullptr && *chosen != '\0')
        return chosen;
    static const fs::path found = data_of_this_program();
    return found;
}

} // namespace trainyard
