#pragma once

#include <string_view>

namespace trainyard {

// Whether the name of a setting that is not known tells of a part of a step or of its memory:
// "--triangle-attn" may make another job, "--frobnicate" is not likely to.
bool names_a_part_of_a_step(std::string_view name);

} // namespace trainyard
