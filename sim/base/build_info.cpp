#include "sim/base/build_info.h"

#include <cstdlib>
#include <system_error>
#include <utility>

namespace trainyard {

std::string_view version()
{
    return TRAINYARD_VERSION;
}

namespace {

std::filesystem::path& given_data_dir()
{
    static std::filesystem::path folder;
    return folder;
}

} // namespace

void set_data_dir(std::filesystem::path folder)
{
    given_data_dir() = std::move(folder);
}

std::filesystem::path data_dir()
{
    if (const char* chosen = std::getenv("TRAINYARD_DATA"); chosen != nullptr && *chosen != '\0') {
        return chosen;
    }
    if (!given_data_dir().empty()) {
        return given_data_dir();
    }
    std::error_code ignored; // no /proc: fall through to the source tree
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto installed = (program.parent_path() / TRAINYARD_DATA_FROM_PROGRAM).lexically_normal();
    if (!program.empty() && std::filesystem::is_directory(installed, ignored)) {
        return installed;
    }
    return TRAINYARD_SOURCE_DIR;
}

} // namespace trainyard
