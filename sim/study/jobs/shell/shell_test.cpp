#include "sim/study/jobs/shell/shell_test.h"

#include "sim/study/jobs/shell/shell_arithmetic.h"
#include "sim/study/jobs/shell/shell_expansion.h"

#include <fmt/ranges.h>
#include <regex.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

using TestWords = std::vector<std::string>;

std::optional<bool> compared(const std::string& left, const std::string& operation,
                             const std::string& right)
{
    const ShellLookup none = [](std::string_view) { return std::nullopt; };
    const auto a = shell_arithmetic(left, none);
    const auto b = shell_arithmetic(right, none);
    if (!a || !b)
        return std::nullopt;
    if (operation == "-eq")
        return *a == *b;
    if (operation == "-ne")
        return *a != *b;
    if (operation == "-lt")
        return *a < *b;
    if (operation == "-le")
        return *a <= *b;
    if (operation == "-gt")
        return *a > *b;
    if (operation == "-ge")
        return *a >= *b;
    return std::nullopt;
}

// Its brackets and bars were taken for operators of the shell.
std::string expression_of(const TestWords& words)
{
    return fmt::format("{}", fmt::join(words.begin() + 2, words.end(), ""));
}

std::optional<bool> simple(const TestWords& words)
{
    if (words.size() == 2 && (words[0] == "-z" || words[0] == "-n")) {
        if (words[1].starts_with("$("))
            return std::nullopt;
        const bool empty = words[1].empty() || has_unknown(words[1]);
        return empty == (words[0] == "-z");
    }
    if (words.size() > 2 && words[1] == "=~") {
        const std::string expression = expression_of(words);
        if (has_unknown(words[0]) || has_unknown(expression))
            return std::nullopt;
        const auto groups = regex_groups(words[0], expression);
        return groups ? std::optional(!groups->empty()) : std::nullopt;
    }
    if (words.size() == 1)
        return has_unknown(words[0]) ? std::nullopt : std::optional(!words[0].empty());
    if (words.size() != 3 || has_unknown(words[0]) || has_unknown(words[2]))
        return std::nullopt;
    const bool pattern = words[2].find_first_of("*?[") != std::string::npos;
    if ((words[1] == "=" || words[1] == "==") && !pattern)
        return words[0] == words[2];
    if (words[1] == "!=" && !pattern)
        return words[0] != words[2];
    return compared(words[0], words[1], words[2]);
}

} // namespace

std::optional<std::vector<std::string>> regex_groups(const std::string& text,
                                                     const std::string& expression)
{
    constexpr std::size_t longest = 1000;
    constexpr std::size_t most_groups = 10;
    // Counts inside one another make an expression of millions of states.
    if (text.size() > longest || expression.size() > longest ||
        std::ranges::count(expression, '{') > 1)
        return std::nullopt;
    regex_t compiled = {};
    if (regcomp(&compiled, expression.c_str(), REG_EXTENDED) != 0)
        return std::nullopt;
    std::array<regmatch_t, most_groups> found = {};
    const bool matches = regexec(&compiled, text.c_str(), found.size(), found.data(), 0) == 0;
    const std::size_t groups = std::min(compiled.re_nsub + 1, found.size());
    regfree(&compiled);
    std::vector<std::string> out;
    for (std::size_t i = 0; matches && i < groups; ++i)
        out.push_back(found[i].rm_so < 0
                          ? std::string()
                          : text.substr(static_cast<std::size_t>(found[i].rm_so),
                                        static_cast<std::size_t>(found[i].rm_eo - found[i].rm_so)));
    return out;
}

std::optional<bool> shell_test(const TestWords& words)
{
    constexpr std::size_t most_words = 64;
    if (words.size() > most_words)
        return std::nullopt;
    for (const std::string operation : {"||", "&&"})
        for (std::size_t i = words.size(); i-- > 0;)
            if (words[i] == operation) {
                const auto middle = words.begin() + static_cast<std::ptrdiff_t>(i);
                const std::optional<bool> left = shell_test(TestWords(words.begin(), middle));
                const std::optional<bool> right = shell_test(TestWords(middle + 1, words.end()));
                const bool decides = operation == "||";
                if (left == decides || right == decides)
                    return decides;
                return left && right ? std::optional(!decides) : std::nullopt;
            }
    if (!words.empty() && words.front() == "!") {
        const std::optional<bool> rest = simple(TestWords(words.begin() + 1, words.end()));
        return rest ? std::optional(!*rest) : std::nullopt;
    }
    return simple(words);
}

} // namespace trainyard
