#include "sim/study/jobs/shell/shell_pattern.h"

#include <regex.h>

#include <algorithm>
#include <cctype>
#include <memory>

namespace trainyard {
namespace {

constexpr std::size_t longest_cut = 1024;     // characters of which every part is tried
constexpr std::size_t longest_replaced = 256; // likewise, at every place
constexpr std::size_t longest_expression = 128;

// Behind the element at `at` that stands for one character, where it stands for `c`.
std::optional<std::size_t> behind(std::string_view pattern, std::size_t at, char c)
{
    if (pattern[at] == '?')
        return at + 1;
    if (pattern[at] == '[') {
        std::size_t i = at + 1;
        const bool inverted = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
        i += inverted ? 1 : 0;
        bool found = false;
        for (const std::size_t first = i; i < pattern.size() && (pattern[i] != ']' || i == first);
             ++i)
            if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
                found = found || (pattern[i] <= c && c <= pattern[i + 2]);
                i += 2;
            } else
                found = found || pattern[i] == c;
        if (i < pattern.size())
            return found != inverted ? std::optional(i + 1) : std::nullopt;
    }
    at += pattern[at] == '\\' && at + 1 < pattern.size() ? 1 : 0;
    return pattern[at] == c ? std::optional(at + 1) : std::nullopt;
}

bool doubled(const std::string& operation)
{
    return operation.size() > 1 && operation[0] == operation[1];
}

// ${name%pattern} and ${name#pattern}; doubled: as much as can be.
std::optional<TracedText> cut(const TracedText& text, const std::string& operation)
{
    const std::size_t size = text.text.size();
    if (size > longest_cut)
        return std::nullopt;
    const bool end = operation.front() == '%';
    const bool most = doubled(operation);
    const std::string pattern = operation.substr(most ? 2 : 1);
    for (std::size_t i = 0; i <= size; ++i) {
        const std::size_t count = most ? size - i : i;
        const std::size_t begin = end ? size - count : 0;
        if (shell_matches(pattern, std::string_view(text.text).substr(begin, count)))
            return end ? text.part(0, begin) : text.part(count);
    }
    return text;
}

// How many characters from `at` on the pattern takes at most; 0: none.
std::size_t longest_match(std::string_view pattern, std::string_view text, std::size_t at)
{
    std::size_t count = text.size() - at;
    while (count > 0 && !shell_matches(pattern, text.substr(at, count)))
        --count;
    return count;
}

// ${name/pattern/other}; doubled: everywhere; # and %: at the front, at the end.
std::optional<TracedText> replaced(const TracedText& text, const TracedText& operation)
{
    const bool all = doubled(operation.text);
    std::size_t from = all ? 2 : 1;
    const char place = !all && operation.text.size() > 1 ? operation.text[1] : '\0';
    from += place == '#' || place == '%' ? 1 : 0;
    const std::size_t slash = std::min(operation.text.find('/', from), operation.text.size());
    const std::string pattern = operation.text.substr(from, slash - from);
    if (pattern.empty())
        return text;
    if (text.text.size() > longest_replaced)
        return std::nullopt;
    TracedText out;
    bool done = false;
    for (std::size_t i = 0; i < text.text.size();) {
        const bool may = !done && (place != '#' || i == 0);
        std::size_t count = may ? longest_match(pattern, text.text, i) : 0;
        if (place == '%' && i + count < text.text.size())
            count = 0;
        out.append(count > 0 ? operation.part(slash + 1) : text.part(i, 1));
        done = done || (count > 0 && !all);
        i += std::max<std::size_t>(count, 1);
    }
    return out;
}

std::optional<TracedText> with_case(TracedText text, const std::string& operation)
{
    if (operation.size() > 2 || (operation.size() == 2 && !doubled(operation)))
        return std::nullopt;
    const std::size_t count = doubled(operation) ? text.text.size() : 1;
    for (std::size_t i = 0; i < std::min(count, text.text.size()); ++i) {
        const auto c = static_cast<unsigned char>(text.text[i]);
        text.text[i] =
            static_cast<char>(operation.front() == '^' ? std::toupper(c) : std::tolower(c));
    }
    return text;
}

// ${name:from:count}; less than 0 counts from the end.
std::optional<TracedText> part(const TracedText& text, std::string_view operation,
                               const ShellLookup& variable)
{
    const std::size_t colon = std::min(operation.find(':', 1), operation.size());
    const auto size = static_cast<std::int64_t>(text.text.size());
    const auto from = shell_arithmetic(operation.substr(1, colon - 1), variable);
    const auto count = colon == operation.size()
                           ? std::optional(size)
                           : shell_arithmetic(operation.substr(colon + 1), variable);
    if (!from || !count || *from < -size)
        return std::nullopt;
    const std::int64_t begin = std::min(*from < 0 ? size + *from : *from, size);
    const std::int64_t end =
        *count < 0 ? std::max(size + *count, begin) : begin + std::min(*count, size - begin);
    return text.part(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

} // namespace

bool shell_matches(std::string_view pattern, std::string_view text)
{
    std::size_t at = 0;
    std::optional<std::size_t> star; // behind the last one
    std::size_t star_ends = 0;       // in the text
    for (std::size_t i = 0; i < text.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = ++at;
            star_ends = i;
            continue;
        }
        const std::optional<std::size_t> next =
            at < pattern.size() ? behind(pattern, at, text[i]) : std::nullopt;
        if (next)
            at = *next;
        else if (star)
            at = *star;
        else
            return false;
        i = next ? i + 1 : ++star_ends;
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::string literal_pattern(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

std::optional<std::vector<std::string>> regular_match(const std::string& expression,
                                                      const std::string& text)
{
    // Counts of counts are as large as what they repeat.
    if (expression.size() > longest_expression || text.size() > longest_cut ||
        std::count(expression.begin(), expression.end(), '{') > 1)
        return std::nullopt;
    regex_t compiled;
    if (regcomp(&compiled, expression.c_str(), REG_EXTENDED) != 0)
        return std::nullopt;
    const std::unique_ptr<regex_t, decltype(&regfree)> owner(&compiled, regfree);
    std::vector<regmatch_t> places(compiled.re_nsub + 1);
    std::vector<std::string> out;
    if (regexec(&compiled, text.c_str(), places.size(), places.data(), 0) == 0)
        for (const regmatch_t& place : places)
            out.push_back(place.rm_so < 0
                              ? std::string()
                              : text.substr(static_cast<std::size_t>(place.rm_so),
                                            static_cast<std::size_t>(place.rm_eo - place.rm_so)));
    return out;
}

std::optional<TracedText> with_text_operation(const TracedText& text, const TracedText& operation,
                                              const ShellLookup& variable)
{
    switch (operation.text.empty() ? '\0' : operation.text.front()) {
    case '%':
    case '#':
        return cut(text, operation.text);
    case '/':
        return replaced(text, operation);
    case '^':
    case ',':
        return with_case(text, operation.text);
    case ':':
        return part(text, operation.text, variable);
    default:
        return std::nullopt;
    }
}

} // namespace trainyard
