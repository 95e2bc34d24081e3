#pragma once

// Libraries that are opened at run time, wherever drivers, CUDA or Python's wheels put them, and
// tables of their functions. They are named in errors, so that people can tell what to install.

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace trainyard {

// A library while it is open: the handle, or what the dynamic linker said.
tl::expected<void*, std::string> try_to_open(const std::string& path);

// Fills tables of functions by name.
class LibraryFunctions {
public:
    explicit LibraryFunctions(void* handle) : handle_(handle) {}

    // Null: it has none.
    template <class Function>
    void take(const char* name, Function*& function) const
    {
        function = reinterpret_cast<Function*>(symbol(name));
    }

    template <class Function>
    void need(const char* name, Function*& function)
    {
        take(name, function);
        if (function == nullptr)
            missing_.emplace_back(name);
    }

    // Names that were needed and are not there.
    const std::vector<std::string>& missing() const { return missing_; }

private:
    void* symbol(const char* name) const;

    void* handle_;
    std::vector<std::string> missing_;
};

struct LibrarySearch {
    std::string title;              // for people: "NCCL"
    std::vector<std::string> names; // "libnccl.so.2"; the preferred first
    std::string variable;           // of the environment: names a file, and no other is tried
    std::vector<std::string> roots; // where to look when the dynamic linker finds none
    std::string fix;                // what to do where there is none
};

// What CUDA_HOME, VIRTUAL_ENV, CONDA_PREFIX and HOME say, and the usual places.
std::vector<std::string> usual_library_roots();

// Files of that name below `root`: lib, lib64, and lib/python*/*-packages/nvidia/*/lib.
std::vector<std::string> libraries_below(const std::string& root, const std::string& name);

struct OpenedLibrary {
    std::string path;
    LibraryFunctions functions;
};

// Never closed again: such libraries keep threads. Throws MeasureFailure (missing) with what the
// dynamic linker said of each that was tried.
OpenedLibrary open_library(const LibrarySearch& search);

// Throws MeasureFailure (missing) that names the functions that were needed and are not there.
void require_all(const OpenedLibrary& library, const std::string& fix);

} // namespace trainyard
