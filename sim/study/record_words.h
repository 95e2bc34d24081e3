#pragma once

// Words in free text.

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

namespace trainyard {

inline std::string lower_case(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

// Whether `text` holds any of the words, which are in lower case.
inline bool mentions(std::string_view text, std::initializer_list<std::string_view> words)
{
    const std::string lower = lower_case(text);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return lower.find(word) != std::string::npos;
    });
}

} // namespace trainyard
