#pragma once

// Text taken apart and compared.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// ASCII letters in lower case.
std::string lower_case(std::string_view text);

// Whether the texts differ in the case of letters at most.
bool same_letters(std::string_view a, std::string_view b);

// The parts between separators, one more than there are; empty ones stay.
std::vector<std::string_view> split(std::string_view text, char separator);

// Without spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

} // namespace trainyard
