#pragma once

// Whole-number arithmetic of $((...)).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// The value of a variable as text; nothing when it is not known.
using ShellLookup = std::function<std::optional<std::string>(std::string_view name)>;

// + - * / % ** and brackets over numbers and variables ($ before a name is optional); nothing for
// anything else, for a value that is not known, for a division by zero and beyond 64 bits.
std::optional<std::int64_t> shell_arithmetic(std::string_view expression,
                                             const ShellLookup& variable);

} // namespace trainyard
