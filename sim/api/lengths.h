#pragma once

// Lengths of sequences as a command line gives them.

#include "sim/base/diagnostic.h"

#include <string_view>
#include <vector>

namespace trainyard {

// "2048,512,4096" or "uniform:512:4096:7" (evenly spread, of that seed), as multiples of `whole`
// tokens.
Checked<std::vector<double>> parse_lengths(std::string_view text, std::int64_t whole);

} // namespace trainyard
