#pragma once

// Bytes under a name that a reader of files can open.

#include "tests/fuzz/input.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace trainyard::fuzz {

class FileInMemory {
public:
    explicit FileInMemory(std::string_view bytes) : number_(::memfd_create("fuzz", 0))
    {
        require(number_ >= 0, "there is memory for a file");
        const ssize_t written = ::write(number_, bytes.data(), bytes.size());
        require(written == static_cast<ssize_t>(bytes.size()), "the file is written whole");
    }
    FileInMemory(const FileInMemory&) = delete;
    FileInMemory& operator=(const FileInMemory&) = delete;
    ~FileInMemory() { ::close(number_); }

    std::string name() const { return fmt::format("/proc/self/fd/{}", number_); }

private:
    int number_;
};

} // namespace trainyard::fuzz
