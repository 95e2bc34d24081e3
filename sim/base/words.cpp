#include "sim/base/words.h"

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

char lower(char letter)
{
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

} // namespace

std::string lower_case(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

bool same_letters(std::string_view a, std::string_view b)
{
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blank = " \t\n";
    text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
    text.remove_suffix(text.size() - (text.find_last_not_of(blank) + 1));
    return text;
}

} // namespace trainyard
