#pragma once

// The outcome of a condition: [ ... ], [[ ... ]] or test.

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// `words` without the brackets. Comparisons of texts and numbers, -z, -n, !, && and ||; the right
// side of = is a pattern, that of =~ a regular expression. Nothing for what depends on the machine
// (files) or on a value that is not known. A variable that no line sets
// counts as empty for -z and -n: a script gives its defaults so.
std::optional<bool> shell_test(const std::vector<std::string>& words);

} // namespace trainyard
