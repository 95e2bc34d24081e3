#pragma once

// Megatron-LM's small languages: which layers have experts, and how stages are written (they are
// read by sim/strategy/pipeline/layout.h).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// "([0]*3+[1]*58)" -> 0 0 0 1 1 ...; nothing when it is no such list, or longer than 10,000.
std::optional<std::vector<int>> number_pattern(std::string_view text);

// The layout of stages with so many layers, runs of equal stages short.
std::string layout_text(const std::vector<int>& stage_layers);

} // namespace trainyard
