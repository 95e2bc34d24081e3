#include "calibrate/measure/backend/shared_library.h"

#include "calibrate/measure/backend/backend.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> folders_in(const fs::path& folder)
{
    std::vector<fs::path> out;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (std::error_code ignored; entry->is_directory(ignored))
            out.push_back(entry->path());
    std::sort(out.begin(), out.end());
    return out;
}

// Files that may be it, the preferred first.
std::vector<std::string> paths_to_try(const LibrarySearch& search)
{
    if (const char* named = std::getenv(search.variable.c_str()); named && *named)
        return {named};
    std::vector<std::string> out = search.names;
    for (const std::string& name : search.names)
        for (const std::string& root : search.roots)
            for (std::string& path : libraries_below(root, name))
                out.push_back(std::move(path));
    return out;
}

} // namespace

std::vector<std::string> usual_library_roots()
{
    std::vector<std::string> roots;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const char* value = std::getenv(name); value && *value)
            roots.emplace_back(value);
    if (const char* home = std::getenv("HOME"); home && *home)
        roots.push_back(std::string(home) + "/.local");
    for (const char* place : {"/usr/local/cuda", "/usr/local", "/usr", "/opt/conda"})
        roots.emplace_back(place);
    return roots;
}

std::vector<std::string> libraries_below(const std::string& root, const std::string& name)
{
    std::vector<std::string> found;
    const auto add = [&](const fs::path& folder) {
        if (std::error_code ignored; fs::exists(folder / name, ignored))
            found.push_back((folder / name).string());
    };
    add(fs::path(root) / "lib64");
    add(fs::path(root) / "lib");
    for (const fs::path& python : folders_in(fs::path(root) / "lib"))
        if (python.filename().string().starts_with("python"))
            for (const char* packages : {"site-packages", "dist-packages"})
                for (const fs::path& wheel : folders_in(python / packages / "nvidia"))
                    add(wheel / "lib");
    return found;
}

tl::expected<void*, std::string> try_to_open(const std::string& path)
{
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
        return handle;
    const char* const reason = dlerror();
    return tl::make_unexpected(std::string(reason ? reason : path));
}

void* LibraryFunctions::symbol(const char* name) const
{
    return dlsym(handle_, name);
}

OpenedLibrary open_library(const LibrarySearch& search)
{
    std::vector<std::string> refused;
    for (const std::string& path : paths_to_try(search)) {
        const auto handle = try_to_open(path);
        if (handle)
            return {path, LibraryFunctions(*handle)};
        refused.push_back(handle.error());
    }
    throw MeasureFailure{
        FailureKind::missing,
        fmt::format("{} cannot be opened: {}", search.title, fmt::join(refused, "; ")), search.fix};
}

void require_all(const OpenedLibrary& library, const std::string& fix)
{
    if (const std::vector<std::string>& missing = library.functions.missing(); !missing.empty())
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("{} lacks {}", library.path, fmt::join(missing, ", ")),
                             fix};
}

} // namespace trainyard
