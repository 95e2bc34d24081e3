#pragma once

// What commands that only compute with words and text print, for $(...).

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// echo, seq, expr, basename, bc, tr, wc and cut, as far as scripts use them for sizes; nothing for
// all others.
std::optional<std::string> filtered(const std::vector<std::string>& words,
                                    const std::string& input);

} // namespace trainyard
