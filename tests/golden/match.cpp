#include "tests/golden/match.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::golden {
namespace {

constexpr std::string_view wildcard = "...";

// A pattern with wildcards against a text, item by item; the last wildcard is extended as needed.
template <class Item, class IsWildcard, class Equal>
bool glob(const std::vector<Item>& pattern, const std::vector<Item>& text, IsWildcard is_wildcard,
          Equal equal)
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::optional<std::size_t> star;
    std::size_t star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && is_wildcard(pattern[p])) {
            star = p++;
            star_text = t;
        } else if (p < pattern.size() && equal(pattern[p], text[t])) {
            ++p;
            ++t;
        } else if (star) {
            p = *star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && is_wildcard(pattern[p]))
        ++p;
    return p == pattern.size();
}

// A number, a wildcard, a run of blanks, or one other character.
struct Token {
    std::string_view text;
    std::optional<double> number;
};

std::vector<Token> tokens_of(std::string_view line)
{
    std::vector<Token> tokens;
    while (!line.empty()) {
        Token token{line.substr(0, 1), std::nullopt};
        double number = 0;
        if (line.starts_with(wildcard)) {
            token.text = wildcard;
        } else if (line[0] == ' ') {
            token.text = line.substr(0, line.find_first_not_of(' '));
        } else if (std::isdigit(static_cast<unsigned char>(line[0])) != 0) {
            const auto end = std::from_chars(line.data(), line.data() + line.size(), number).ptr;
            token.text = line.substr(0, static_cast<std::size_t>(end - line.data()));
            if (token.text.ends_with('.')) // of a sentence, or of a wildcard
                token.text.remove_suffix(1);
            token.number = number;
        }
        tokens.push_back(token);
        line.remove_prefix(token.text.size());
    }
    return tokens;
}

bool line_matches(std::string_view expected, std::string_view actual, double tolerance)
{
    return glob(
        tokens_of(expected), tokens_of(actual),
        [](const Token& token) { return token.text == wildcard; },
        [tolerance](const Token& a, const Token& b) {
            if (tolerance > 0 && a.number && b.number)
                return std::abs(*a.number - *b.number) <=
                       tolerance * std::max(std::abs(*a.number), std::abs(*b.number));
            return a.text == b.text || (tolerance > 0 && a.text[0] == ' ' && b.text[0] == ' ');
        });
}

std::vector<std::string_view> lines_of(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

} // namespace

bool matches(std::string_view expected, std::string_view actual, double tolerance)
{
    return glob(
        lines_of(expected), lines_of(actual),
        [](std::string_view line) { return line == wildcard; },
        [tolerance](std::string_view a, std::string_view b) {
            return line_matches(a, b, tolerance);
        });
}

} // namespace trainyard::golden
