#pragma once

// Words in free text.

#include "sim/base/words.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

namespace trainyard {

// Whether `text` holds any of the words, which are in lower case.
inline bool mentions(std::string_view text, std::initializer_list<std::string_view> words)
{
    const std::string lower = lower_case(text);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return lower.find(word) != std::string::npos;
    });
}

} // namespace trainyard
