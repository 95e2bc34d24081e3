#include "sim/study/jobs/megatron/megatron_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

constexpr std::size_t longest_layout = 10'000;

// A whole number at `at`, which moves behind it; 0 when there is none.
std::size_t count_at(std::string_view text, std::size_t& at)
{
    std::size_t out = 0;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0)
        out = std::min(longest_layout + 1, out * 10 + static_cast<std::size_t>(text[at++] - '0'));
    return out;
}

// text * n for "*n" at `at`; the text itself when nothing follows. False when it gets too long.
template <class Sequence>
bool repeat(Sequence& sequence, std::string_view text, std::size_t& at)
{
    if (at >= text.size() || text[at] != '*')
        return true;
    ++at;
    const std::size_t times = count_at(text, at);
    if (times == 0 || times * std::max<std::size_t>(1, sequence.size()) > longest_layout)
        return false;
    const Sequence once = sequence;
    for (std::size_t i = 1; i < times; ++i)
        sequence.insert(sequence.end(), once.begin(), once.end());
    return true;
}

// sum of terms: ( sum ) * n, [a, b] * n
std::optional<std::vector<int>> pattern_sum(std::string_view text, std::size_t& at, int depth)
{
    std::vector<int> out;
    while (at < text.size() && depth < 16) {
        std::vector<int> term;
        if (text[at] == '(') {
            const auto inner = pattern_sum(text, ++at, depth + 1);
            if (!inner || at >= text.size() || text[at++] != ')')
                return std::nullopt;
            term = *inner;
        } else if (text[at] == '[') {
            ++at;
            while (at < text.size() && text[at] != ']') {
                if (text[at] == ',') {
                    ++at;
                    continue;
                }
                if (std::isdigit(static_cast<unsigned char>(text[at])) == 0)
                    return std::nullopt;
                term.push_back(static_cast<int>(count_at(text, at)));
            }
            if (at++ >= text.size())
                return std::nullopt;
        } else
            return std::nullopt;
        if (!repeat(term, text, at) || out.size() + term.size() > longest_layout)
            return std::nullopt;
        out.insert(out.end(), term.begin(), term.end());
        if (at >= text.size() || text[at] != '+')
            return out;
        ++at;
    }
    return std::nullopt;
}

std::string without(std::string_view text, std::string_view characters)
{
    std::string out;
    for (const char c : text)
        if (characters.find(c) == std::string_view::npos)
            out += c;
    return out;
}

} // namespace

std::optional<std::vector<int>> number_pattern(std::string_view text)
{
    const std::string plain = without(text, " \"'");
    std::size_t at = 0;
    auto out = pattern_sum(plain, at, 0);
    return at == plain.size() ? out : std::nullopt;
}

std::string layout_text(const std::vector<int>& stage_layers)
{
    const auto layers = [](int count) {
        return count == 0   ? std::string()
               : count == 1 ? std::string("t")
                            : fmt::format("t*{}", count);
    };
    std::string out = "E";
    for (std::size_t i = 0; i < stage_layers.size();) {
        std::size_t end = i;
        while (end < stage_layers.size() && stage_layers[end] == stage_layers[i])
            ++end;
        const bool first = i == 0;
        // The first and the last stage stand alone: E before, L after them.
        const std::size_t last = end == stage_layers.size() ? end - 1 : end;
        const std::size_t equal = first ? 1 : std::max<std::size_t>(1, last - i);
        const std::string stage = layers(stage_layers[i]);
        if (equal > 1)
            out += fmt::format("({}|)*{}", stage, equal);
        else
            out += stage + (i + 1 == stage_layers.size() ? "" : "|");
        i += equal;
    }
    return out + "L";
}

} // namespace trainyard
