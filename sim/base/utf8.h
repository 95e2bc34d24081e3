#pragma once

// Text from outside, as people may be shown it.

#include <string>
#include <string_view>

namespace trainyard {

// Appends the character that `text` (not empty) starts with: as it is, or as "\\x1b" for each of
// its bytes where it would drive a terminal (control characters, also those beyond 7 bits), reorder
// the line (marks of direction) or is no UTF-8. Returns how many bytes of `text` that was.
std::size_t append_printable(std::string& out, std::string_view text);

// The whole of `text` like that, but for its line breaks and tabs, which stay.
std::string printable_lines(std::string_view text);

} // namespace trainyard
