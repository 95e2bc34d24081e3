#pragma once

// Text taken apart and compared.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace trainyard {

// ASCII letters in lower case.
std::string lower_case(std::string_view text);

// Whether the texts differ in the case of letters at most.
bool same_letters(std::string_view a, std::string_view b);

// The parts between separators, one more than there are; empty ones stay.
std::vector<std::string_view> split(std::string_view text, char separator);

// Whether any of the words, parted by single spaces, is as asked.
template <class Asked>
bool any_word(std::string_view words, Asked asked)
{
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(' '), words.size());
        if (asked(words.substr(0, end)))
            return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

inline bool has_word(std::string_view words, std::string_view word)
{
    return any_word(words, [&](std::string_view one) { return one == word; });
}

// The number that all of the text is.
template <class T>
std::optional<T> to_number(std::string_view text)
{
    T number{};
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

// Without spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

} // namespace trainyard
