#include "calibrate/measure/discover/sys_tree.h"

#include "calibrate/import/log_text.h"
#include "sim/base/diagnostic.h"
#include "sim/base/files.h"

#include <algorithm>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_file = std::size_t{8} << 20;
constexpr std::size_t most_entries = 20'000;
constexpr std::int64_t most_numbers = 65'536;

std::string without_blanks(const std::string& text)
{
    constexpr const char* blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string::npos
               ? std::string{}
               : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

} // namespace

std::optional<std::string> SysTree::text(const std::string& path) const
{
    std::error_code error;
    const fs::path file = root_ / path;
    if (!fs::is_regular_file(file, error) || error)
        return std::nullopt;
    try {
        const std::optional<std::string> found = read_file_up_to(file, longest_file);
        return found ? std::optional(without_blanks(*found)) : std::nullopt;
    } catch (const WorldError&) {
        return std::nullopt; // some files of the kernel cannot be read at some times
    }
}

std::optional<std::int64_t> SysTree::number(const std::string& path) const
{
    const std::optional<std::string> found = text(path);
    if (!found)
        return std::nullopt;
    if (!found->starts_with("0x"))
        return integer_in(*found);
    std::int64_t value = 0;
    const char* const end = found->data() + found->size();
    const auto read = std::from_chars(found->data() + 2, end, value, 16);
    return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

std::vector<std::string> SysTree::entries(const std::string& path) const
{
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(root_ / path, error), end; !error && at != end;
         at.increment(error)) {
        names.push_back(at->path().filename().string());
        if (names.size() >= most_entries)
            break;
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string SysTree::link(const std::string& path) const
{
    std::error_code error;
    const fs::path target = fs::read_symlink(root_ / path, error);
    return error ? std::string{} : target.string();
}

std::vector<int> numbers_of_list(std::string_view list)
{
    std::vector<int> out;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        const std::string_view part = trimmed(list.substr(0, comma));
        const std::size_t dash = part.find('-');
        const auto first = integer_in(part.substr(0, dash));
        const auto last = dash == part.npos ? first : integer_in(part.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last >= most_numbers ||
            static_cast<std::int64_t>(out.size()) + *last - *first >= most_numbers)
            return {};
        for (std::int64_t i = *first; i <= *last; ++i)
            out.push_back(static_cast<int>(i));
        list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
    }
    return out;
}

} // namespace trainyard
