#pragma once

// Does an output equal the expected one, as a reader would judge?

#include <string_view>

namespace trainyard::golden {

// A line "..." of the expected text stands for any lines, "..." inside a line for any characters.
// With a tolerance (0.05: 5 %) numbers may differ by that much, and blanks in number.
bool matches(std::string_view expected, std::string_view actual, double tolerance);

} // namespace trainyard::golden
