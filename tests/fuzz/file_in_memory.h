#pragma once

// Bytes under a name that a reader of files can open.

#include "tests/fuzz/input.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace trainyard::fuzz {

class FileInMemory {
public:
    explicit FileInMemory(std::string_view bytes)
    {
        const int number = ::mkstemp(name_.data());
        require(number >= 0, "there is memory for a file");
        const ssize_t written = ::write(number, bytes.data(), bytes.size());
        require(written == static_cast<ssize_t>(bytes.size()), "the file is written whole");
        ::close(number);
    }
    FileInMemory(const FileInMemory&) = delete;
    FileInMemory& operator=(const FileInMemory&) = delete;
    ~FileInMemory() { ::unlink(name_.c_str()); }

    const std::string& name() const { return name_; }

private:
    std::string name_ = "/dev/shm/trainyard-fuzz-XXXXXX"; // SQLite wants a name of the file system
};

} // namespace trainyard::fuzz
