#include "sim/base/spelling.h"

#include "sim/base/diagnostic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>

namespace trainyard {
namespace {

constexpr std::size_t longest_word = 64; // what is longer is no misspelt name

// What slips of the pen cost. Another digit is another thing more often than a slip ("llama-2" is
// no misspelt "llama-3"), so that it counts for more where digits are told apart.
struct SlipCosts {
    std::size_t gap = 1;       // a letter too many, one too few, two neighbours swapped
    std::size_t digit_gap = 1; // a digit too many or too few
    std::size_t letter = 1;    // another letter
    std::size_t digit = 1;     // another digit
    std::size_t other = 1;     // a letter for a digit, a digit for a letter
};
constexpr SlipCosts counted{};
constexpr SlipCosts weighed{.gap = 4, .digit_gap = 6, .letter = 6, .digit = 11, .other = 9};

// Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours.
// Upper and lower case are alike.
std::size_t edit_distance(std::string_view a, std::string_view b, const SlipCosts& costs)
{
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto same = [&](char x, char y) { return lower(x) == lower(y); };
    const auto gap = [&](char c) { return is_digit(c) ? costs.digit_gap : costs.gap; };
    const auto change = [&](char x, char y) {
        if (same(x, y))
            return std::size_t{0};
        return is_digit(x) != is_digit(y) ? costs.other : is_digit(x) ? costs.digit : costs.letter;
    };
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 1; i <= a.size(); ++i)
        d[i][0] = d[i - 1][0] + gap(a[i - 1]);
    for (std::size_t j = 1; j <= b.size(); ++j)
        d[0][j] = d[0][j - 1] + gap(b[j - 1]);
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            d[i][j] = std::min({d[i - 1][j] + gap(a[i - 1]), d[i][j - 1] + gap(b[j - 1]),
                                d[i - 1][j - 1] + change(a[i - 1], b[j - 1])});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + costs.gap);
        }
    return d[a.size()][b.size()];
}

// Its words, which dashes, underscores and dots part: "--num-layers" has two.
std::vector<std::string_view> words_of(std::string_view name)
{
    std::vector<std::string_view> words;
    while (!name.empty()) {
        const std::size_t end = name.find_first_of("-_.");
        if (end != 0)
            words.push_back(name.substr(0, end));
        name = end == std::string_view::npos ? std::string_view() : name.substr(end + 1);
    }
    return words;
}

// Whether `name` is `full` with up to half of its words left out.
bool leaves_words_out(std::string_view name, std::string_view full)
{
    const std::vector<std::string_view> said = words_of(name);
    const std::vector<std::string_view> all = words_of(full);
    if (said.size() >= all.size() || 2 * said.size() < all.size())
        return false;
    std::size_t found = 0;
    for (const std::string_view word : all)
        if (found < said.size() && word == said[found])
            ++found;
    return found == said.size();
}

} // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates)
{
    if (word.size() > longest_word)
        return {};
    // Which of them is near enough is a matter of the count, which is nearest one of the weight.
    const std::size_t most_slips = std::max<std::size_t>(1, word.size() / 3);
    std::string best;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string& candidate : candidates) {
        if (edit_distance(word, candidate, counted) > most_slips)
            continue;
        const std::size_t distance = edit_distance(word, candidate, weighed);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string near_slip(std::string_view name, std::span<const std::string> candidates)
{
    if (name.size() > longest_word)
        return {};
    constexpr std::size_t short_name = 7; // "--lr" is no slip of "--lora"
    std::string best;
    std::size_t best_distance = (name.size() < short_name ? weighed.letter : 2 * weighed.gap) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate, weighed);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string near_option(std::string_view name, std::span<const std::string> candidates)
{
    std::string slip = near_slip(name, candidates);
    const auto left_out = [&](const std::string& one) { return leaves_words_out(name, one); };
    if (slip.empty() && name.size() <= longest_word)
        if (const auto full = std::find_if(candidates.begin(), candidates.end(), left_out);
            full != candidates.end())
            slip = *full;
    return slip;
}

std::string plain_name(std::string_view name)
{
    std::string out;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::vector<std::string> names_beginning(std::string_view word,
                                         std::span<const std::string> candidates)
{
    const std::string begin = plain_name(word);
    std::vector<std::string> out;
    if (begin.size() >= 3)
        std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(out),
                     [&](const std::string& name) { return plain_name(name).starts_with(begin); });
    return out;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates)
{
    if (const std::string near = did_you_mean(word, candidates); !near.empty())
        return fmt::format("did you mean \"{}\"?", near);
    return candidates.empty() ? "" : fmt::format("one of: {}", fmt::join(candidates, ", "));
}

} // namespace trainyard
