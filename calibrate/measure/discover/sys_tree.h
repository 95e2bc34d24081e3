#pragma once

// Files that the kernel shows below /sys and /proc, read from any root: the machine's, or a copy.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// Whatever is missing, unreadable, huge or no plain file is absent; nothing throws.
class SysTree {
public:
    explicit SysTree(std::filesystem::path root) : root_(std::move(root)) {}

    // Without blanks around; nothing above 8 MiB.
    std::optional<std::string> text(const std::string& path) const;

    // The number that the file holds, decimal or 0x; nothing when it holds none.
    std::optional<std::int64_t> number(const std::string& path) const;

    // Names in a folder, sorted; the first 20,000.
    std::vector<std::string> entries(const std::string& path) const;

    // Where a symbolic link leads, as written.
    std::string link(const std::string& path) const;

private:
    std::filesystem::path root_;
};

// The members of "0-3,8,10-11", at most 65,536; empty when the text is no such list.
std::vector<int> numbers_of_list(std::string_view list);

} // namespace trainyard
