#include "sim/base/build_info.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

fs::path& given_data_dir()
{
    static fs::path folder;
    return folder;
}

// The source tree of the build tree that a file lies in: its root holds a file that names it, so
// that programs themselves tell nothing of where they were built. Empty: it lies in none.
fs::path source_tree_of(const fs::path& file)
{
    for (fs::path folder = file.parent_path(); folder.has_relative_path();
         folder = folder.parent_path())
    {
        std::ifstream mark(folder / TRAINYARD_SOURCE_MARK);
        std::string tree;
        if (std::getline(mark, tree))
            return tree;
    }
    return {};
}

// The module that holds this code, which a program of others may have loaded; empty: the program
// itself.
fs::path module_of_this_code()
{
    Dl_info module{};
    const fs::path file =
        ::dladdr(reinterpret_cast<const void*>(&version), &module) != 0 ? module.dli_fname : "";
    return file.extension() == ".so" ? file : fs::path();
}

fs::path data_of_this_program()
{
    std::error_code ignored; // no /proc: nothing is found
    const fs::path module = module_of_this_code();
    const fs::path file = module.empty() ? fs::read_symlink("/proc/self/exe", ignored) : module;
    const fs::path installed =
        (file.parent_path() / TRAINYARD_DATA_FROM_PROGRAM).lexically_normal();
    if (fs::is_directory(installed, ignored))
        return installed;
    const fs::path tree = source_tree_of(file);
    return tree.empty() ? installed : tree; // where they are missed
}

} // namespace

std::string_view version()
{
    return TRAINYARD_VERSION;
}

void set_data_dir(fs::path folder)
{
    given_data_dir() = std::move(folder);
}

fs::path data_dir()
{
    if (const char* chosen = std::getenv("TRAINYARD_DATA"); chosen != nullptr && *chosen != '\0')
        return chosen;
    if (!given_data_dir().empty())
        return given_data_dir();
    static const fs::path found = data_of_this_program();
    return found;
}

} // namespace trainyard
