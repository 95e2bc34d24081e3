#include "calibrate/program/modules.h"

#include "calibrate/measure/backend/shared_library.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

std::string package_of(std::string_view backend)
{
    if (backend == "mpi")
        return "install libopenmpi-dev and openmpi-bin, and build again";
    if (backend == "gloo")
        return "install libgloo-dev, and build again";
    return "install the CUDA toolkit (nvcc), and build again";
}

} // namespace

std::string module_of(std::string_view backend)
{
    const std::string_view file = backend == "nccl" ? "cuda" : backend;
    const std::string name = fmt::format("trainyard-backend-{}.so", file);
    std::vector<fs::path> folders;
    if (const char* const given = std::getenv("TRAINYARD_BACKENDS"))
        folders.emplace_back(given);
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    folders.push_back(program.parent_path().parent_path() / "lib" / "trainyard");
    folders.push_back(program.parent_path().parent_path() / TRAINYARD_LIBDIR / "trainyard");
    for (const fs::path& folder : folders)
        if (fs::exists(folder / name, ignored))
            return (folder / name).string();
    return {};
}

std::unique_ptr<RankBackend> open_backend(std::string_view backend, const LaunchPlace& place)
{
    const std::string file = module_of(backend);
    if (file.empty())
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("this build has no back end \"{}\"", backend),
                             package_of(backend)};
    // Never closed: libraries of communication do not survive it.
    const auto module = try_to_open(file);
    if (!module)
        throw MeasureFailure{FailureKind::missing, module.error(), package_of(backend)};
    OpenBackend open = nullptr;
    LibraryFunctions(*module).take(open_backend_symbol, open);
    if (open == nullptr)
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("{} is no back end of this program", file), "build again"};
    return open(place);
}

} // namespace trainyard
