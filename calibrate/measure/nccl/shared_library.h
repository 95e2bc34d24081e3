#pragma once

// Libraries that are opened at run time, wherever CUDA or Python's wheels put them.

#include <string>
#include <vector>

namespace trainyard {

struct LibrarySearch {
    std::vector<std::string> names; // "libnccl.so.2"; the preferred first
    std::string variable;           // of the environment: names a file, and no other is tried
    std::vector<std::string> roots; // where to look when the dynamic linker finds none
};

// What CUDA_HOME, VIRTUAL_ENV, CONDA_PREFIX and HOME say, and the usual places.
std::vector<std::string> usual_library_roots();

// Files of that name below `root`: lib, lib64, and lib/python*/*-packages/nvidia/*/lib.
std::vector<std::string> libraries_below(const std::string& root, const std::string& name);

struct OpenedLibrary {
    void* handle = nullptr; // null: none could be opened
    std::string path;
    std::vector<std::string> tried; // what the dynamic linker said of each
};

// Never closed again: such libraries keep threads.
OpenedLibrary open_library(const LibrarySearch& search);

// Null: it has none.
void* library_symbol(const OpenedLibrary& library, const char* name);

} // namespace trainyard
