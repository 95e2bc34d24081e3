#include "sim/base/diagnostic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

constexpr std::size_t longest_word = 64; // what is longer is no misspelt name

// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
// Upper and lower case are alike.
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

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates)
{
    if (word.size() > longest_word)
        return {};
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
    return candidates.empty() ? "" : fmt::format("one of: {}", fmt::join(candidates, ", "));
}

} // namespace trainyard
