#include "calibrate/measure/nccl/shared_library.h"

#include <dlfcn.h>

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

// Opens `path`, or writes down why not.
void try_to_open(const std::string& path, OpenedLibrary& library)
{
    library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle) {
        library.path = path;
        return;
    }
    const char* reason = dlerror();
    library.tried.emplace_back(reason ? reason : path);
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

OpenedLibrary open_library(const LibrarySearch& search)
{
    OpenedLibrary library;
    if (const char* named = std::getenv(search.variable.c_str()); named && *named) {
        try_to_open(named, library);
        return library;
    }
    for (const std::string& name : search.names) {
        try_to_open(name, library);
        if (library.handle)
            return library;
    }
    for (const std::string& name : search.names)
        for (const std::string& root : search.roots)
            for (const std::string& path : libraries_below(root, name)) {
                try_to_open(path, library);
                if (library.handle)
                    return library;
            }
    return library;
}

void* library_symbol(const OpenedLibrary& library, const char* name)
{
    return dlsym(library.handle, name);
}

} // namespace trainyard
