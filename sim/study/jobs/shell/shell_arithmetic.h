#pragma once

// Whole-number arithmetic of $((...)) and ((...)).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// The value of a variable as text; nothing when it is not known.
using ShellLookup = std::function<std::optional<std::string>(std::string_view name)>;

// The operators of C over numbers and variables ($ before a name is optional) and ** for powers;
// nothing for anything else, for a value that is not known, for a division by zero and beyond 64
// bits.
std::optional<std::int64_t> shell_arithmetic(std::string_view expression,
                                             const ShellLookup& variable);

struct ArithmeticAssignment {
    std::string name;
    std::string expression; // whose value it takes
};

// "N = 2 * M", "N += 1" and "N++", with what they add to put in; nothing for other expressions.
std::optional<ArithmeticAssignment> arithmetic_assignment(std::string_view expression);

} // namespace trainyard
