#pragma once

// The outcome of a condition: [ ... ], [[ ... ]] or test.

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// `words` without the brackets. Comparisons of texts and numbers, =~, -z, -n, !, && and ||; nothing
// for what depends on the machine (files) or on a value that is not known. A variable that no line
// sets counts as empty for -z and -n: a script gives its defaults so.
std::optional<bool> shell_test(const std::vector<std::string>& words);

// What a POSIX extended expression, as [[ =~ ]] takes, and each of its groups match in `text`;
// empty: it does not match. Nothing where it is no expression, or one that is large beyond reason.
std::optional<std::vector<std::string>> regex_groups(const std::string& text,
                                                     const std::string& expression);

} // namespace trainyard
