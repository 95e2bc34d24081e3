#include "sim/base/files.h"
#include "sim/cost/profile_library.h"
#include "tests/fuzz/input.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace trainyard;

namespace {

// Profiles are read from files: one, written anew each time, in memory where the system has such a
// folder.
std::string profile_file()
{
    const std::filesystem::path folder =
        std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    return (folder / ("trainyard-fuzz-" + std::to_string(::getpid()) + ".json")).string();
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string path = profile_file();
    std::ofstream(path, std::ios::binary) << fuzz::text_of(data, size);
    try {
        const Checked<ProfileFile> profile = load_profile(path);
        fuzz::require(profile || !profile.error().empty(), "a refused profile has a reason");
        check_profile_file(path);
    } catch (const WorldError&) {
        return 0; // it names a file that is not there
    }
    return 0;
}
