#include "sim/study/jobs/shell/shell_test.h"

#include "sim/study/jobs/shell/shell_arithmetic.h"
#include "sim/study/jobs/shell/shell_expansion.h"
#include "sim/study/jobs/shell/shell_pattern.h"

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

std::optional<bool> simple(const TestWords& words)
{
    if (words.size() == 2 && (words[0] == "-z" || words[0] == "-n")) {
        if (words[1].starts_with("$("))
            return std::nullopt;
        const bool empty = words[1].empty() || has_unknown(words[1]);
        return empty == (words[0] == "-z");
    }
    if (words.size() == 1)
        return has_unknown(words[0]) ? std::nullopt : std::optional(!words[0].empty());
    if (words.size() != 3 || has_unknown(words[0]) || has_unknown(words[2]))
        return std::nullopt;
    if (words[1] == "=" || words[1] == "==")
        return shell_matches(words[2], words[0]);
    if (words[1] == "!=")
        return !shell_matches(words[2], words[0]);
    if (words[1] == "=~") {
        const auto match = regular_match(words[2], words[0]);
        return match ? std::optional(!match->empty()) : std::nullopt;
    }
    return compared(words[0], words[1], words[2]);
}

} // namespace

std::optional<bool> shell_test(const TestWords& words)
{
    constexpr std::size_t most_words = 64;
    if (words.size() > most_words)
        return std::nullopt;
    for (const std::string operation : {"||", "-o", "&&", "-a"})
        for (std::size_t i = words.size(); i-- > 1;)
            if (words[i] == operation) {
                const auto middle = words.begin() + static_cast<std::ptrdiff_t>(i);
                const std::optional<bool> left = shell_test(TestWords(words.begin(), middle));
                const std::optional<bool> right = shell_test(TestWords(middle + 1, words.end()));
                const bool decides = operation == "||" || operation == "-o";
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
