#pragma once

// A folder of its own for one test, gone afterwards.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace trainyard::testing {

class Folder {
public:
    Folder()
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "trainyard-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }

    // The path of a new file that holds `content`.
    std::string file(const std::string& name, std::string_view content) const
    {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << content;
        return (path_ / name).string();
    }

    // Number of entries, hidden ones included.
    long entries() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

private:
    std::filesystem::path path_;
};

} // namespace trainyard::testing
