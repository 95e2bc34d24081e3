#include "sim/study/jobs/shell/shell_filters.h"

#include "sim/base/words.h"
#include "sim/study/jobs/shell/shell_arithmetic.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace trainyard {
namespace {

using Output = std::optional<std::string>;
using FilterWords = std::vector<std::string>; // behind the command's name

const ShellLookup no_variables = [](std::string_view) { return std::nullopt; };

Output echo(FilterWords words)
{
    const bool joins = !words.empty() && words.front() == "-n";
    if (joins)
        words.erase(words.begin());
    else if (!words.empty() && words.front().starts_with('-'))
        return std::nullopt;
    return fmt::format("{}{}", fmt::join(words, " "), joins ? "" : "\n");
}

Output sequence(const FilterWords& words)
{
    constexpr std::int64_t most = 1000;
    std::vector<std::int64_t> numbers;
    for (const std::string& word : words)
        if (const auto number = shell_arithmetic(word, no_variables))
            numbers.push_back(*number);
    if (numbers.size() != words.size() || numbers.empty() || numbers.size() > 3)
        return std::nullopt;
    const std::int64_t from = numbers.size() > 1 ? numbers.front() : 1;
    const std::int64_t step = numbers.size() > 2 ? numbers[1] : 1;
    const std::int64_t to = numbers.back();
    std::int64_t distance = 0;
    if (step == 0 || __builtin_sub_overflow(to, from, &distance) || distance / step >= most)
        return std::nullopt;
    std::string out;
    for (std::int64_t i = 0; i <= distance / step && distance * (step < 0 ? -1 : 1) >= 0; ++i)
        out += std::to_string(from + i * step) + "\n";
    return out;
}

// Both take their words or their input for one sum.
Output sum(const std::string& text)
{
    const auto value = shell_arithmetic(text, no_variables);
    return value ? Output(std::to_string(*value) + "\n") : std::nullopt;
}

Output base_name(const FilterWords& words)
{
    if (words.empty() || words.size() > 2)
        return std::nullopt;
    std::string path = words.front();
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    path.erase(0, path.find_last_of('/', path.size() - 1) + 1);
    if (words.size() == 2 && path.size() > words[1].size() && path.ends_with(words[1]))
        path.erase(path.size() - words[1].size());
    return path + "\n";
}

// A single character in place of another; -d: of all of some.
Output translated(FilterWords words, std::string text)
{
    for (std::string& word : words)
        if (word == "\\n")
            word = "\n";
    if (words.size() != 2)
        return std::nullopt;
    if (words.front() == "-d")
        std::erase_if(text, [&](char c) { return words[1].find(c) != std::string::npos; });
    else if (words[0].size() == 1 && words[1].size() == 1)
        std::replace(text.begin(), text.end(), words[0].front(), words[1].front());
    else if (words[0] == "[:upper:]" && words[1] == "[:lower:]")
        text = lower_case(text);
    else
        return std::nullopt;
    return text;
}

Output counted(const FilterWords& words, const std::string& text)
{
    if (words.size() != 1 || (words.front() != "-l" && words.front() != "-w"))
        return std::nullopt;
    std::int64_t lines = 0;
    std::int64_t all = 0;
    bool inside = false;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        all += !blank && !inside ? 1 : 0;
        inside = !blank;
        lines += c == '\n' ? 1 : 0;
    }
    return std::to_string(words.front() == "-l" ? lines : all) + "\n";
}

// cut -d ',' -f 2, of one line.
Output field(const FilterWords& words, std::string text)
{
    const std::string options = fmt::format("{}", fmt::join(words, ""));
    const std::size_t number = options.rfind("-f");
    if (!options.starts_with("-d") || number == std::string::npos || number != 3)
        return std::nullopt;
    const auto wanted = shell_arithmetic(options.substr(number + 2), no_variables);
    while (text.ends_with('\n'))
        text.pop_back();
    if (!wanted || *wanted < 1 || text.find('\n') != std::string::npos)
        return std::nullopt;
    const char separator = options[2];
    if (text.find(separator) == std::string::npos)
        return text + "\n";
    std::size_t from = 0;
    for (std::int64_t i = 1; i < *wanted && from != std::string::npos; ++i) {
        const std::size_t end = text.find(separator, from);
        from = end == std::string::npos ? end : end + 1;
    }
    if (from == std::string::npos)
        return "\n";
    return text.substr(from, text.find(separator, from) - from) + "\n";
}

} // namespace

std::optional<std::string> filtered(const std::vector<std::string>& words, const std::string& input)
{
    if (words.empty())
        return std::nullopt;
    const std::string& name = words.front();
    const FilterWords rest(words.begin() + 1, words.end());
    if (name == "echo")
        return echo(rest);
    if (name == "seq")
        return sequence(rest);
    if (name == "expr")
        return sum(fmt::format("{}", fmt::join(rest, " ")));
    if (name == "bc" && rest.empty())
        return sum(input);
    if (name == "basename")
        return base_name(rest);
    if (name == "tr")
        return translated(rest, input);
    if (name == "wc")
        return counted(rest, input);
    return name == "cut" ? field(rest, input) : std::nullopt;
}

} // namespace trainyard
