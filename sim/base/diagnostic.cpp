#include "sim/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

namespace trainyard {
namespace {

constexpr std::size_t widest_quoted_line = 160;

// Line `number` of the file, or empty when it cannot be read (again).
std::string source_line(const std::string& file, int number)
{
    std::ifstream in(file);
    std::string text;
    for (int i = 0; i < number; ++i)
        if (!std::getline(in, text))
            return {};
    if (text.size() > widest_quoted_line)
        text = text.substr(0, widest_quoted_line) + " ...";
    return text;
}

// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j)
        d[0][j] = j;
    const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    };
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = same(a[i - 1], b[j - 1]) ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

} // namespace

bool has_errors(std::span<const Diagnostic> problems)
{
    return std::any_of(problems.begin(), problems.end(),
                       [](const Diagnostic& p) { return p.severity == Severity::error; });
}

std::string render(const Diagnostic& problem)
{
    std::string text;
    if (!problem.file.empty())
        text += problem.line > 0 ? fmt::format("{}:{}: ", problem.file, problem.line)
                                 : problem.file + ": ";
    text += problem.severity == Severity::error ? "error: " : "warning: ";
    text += problem.message;
    if (!problem.pointer.empty())
        text += " at " + problem.pointer;
    text += '\n';
    if (!problem.file.empty() && problem.line > 0)
        if (const std::string quoted = source_line(problem.file, problem.line); !quoted.empty())
            text += fmt::format("{:>5} | {}\n", problem.line, quoted);
    if (!problem.hint.empty())
        text += fmt::format("      {}\n", problem.hint);
    return text;
}

std::string render(std::span<const Diagnostic> problems, std::string_view closing)
{
    std::string text;
    std::size_t errors = 0;
    for (const Diagnostic& problem : problems) {
        text += render(problem);
        errors += problem.severity == Severity::error ? 1U : 0U;
    }
    if (errors > 0)
        text += fmt::format("{} {}; {}\n", errors, errors == 1 ? "problem" : "problems", closing);
    return text;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates)
{
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates)
        if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates)
{
    if (const std::string near = did_you_mean(word, candidates); !near.empty())
        return fmt::format("did you mean \"{}\"?", near);
    if (candidates.empty())
        return {};
    std::string all;
    for (const std::string& candidate : candidates)
        all += (all.empty() ? "one of: " : ", ") + candidate;
    return all;
}

} // namespace trainyard
