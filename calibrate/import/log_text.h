#pragma once

// A log as people keep it, cut into lines and words: terminal colours, carriage returns and bytes
// that are no text are taken out.

#include "sim/base/words.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// What a reader of logs takes at most: longer lines are cut, further lines left out.
inline constexpr std::size_t most_log_bytes = std::size_t{64} << 20;
inline constexpr std::size_t longest_log_line = 4096;

// Calls `use(number, line)` for each line, counted from 1.
template <class Use>
void for_each_line(std::string_view text, Use use);

// Without colours (ESC [ ... letter) and other control characters; tabs become blanks.
std::string clean_line(std::string_view line);

struct Word {
    std::string_view text;
    std::size_t at = 0; // where it starts in the line
};

// The words between blanks and bars (tables of Markdown) and commas.
std::vector<Word> words_of(std::string_view line);

// The whole of `text` as a number; nothing else, nor what is not finite.
std::optional<double> number_in(std::string_view text);
std::optional<std::int64_t> integer_in(std::string_view text);

// The number that stands at the start of `text`, or after the first `label` in it, blanks and
// punctuation (: =) between.
std::optional<double> number_after(std::string_view text, std::string_view label);
std::optional<std::int64_t> integer_after(std::string_view text, std::string_view label);

// The rest of the line after `label`, without blanks around; nothing when it is not there.
std::optional<std::string_view> text_after(std::string_view text, std::string_view label);

template <class Use>
void for_each_line(std::string_view text, Use use)
{
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of("\n\r");
        const std::string_view line = text.substr(0, end);
        ++number;
        use(number, clean_line(line.substr(0, longest_log_line)));
        if (end == std::string_view::npos)
            return;
        const bool pair = text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n';
        text.remove_prefix(end + (pair ? 2 : 1));
    }
}

} // namespace trainyard
