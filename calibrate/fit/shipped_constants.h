#pragma once

// The shipped constants that nobody fits: peaks, memories, line rates, each with its source.

#include "calibrate/fit/shipped_knots.h"

#include <filesystem>

namespace trainyard {

// `constants` is calibrate/constants/sourced.json: by file of the folder of profiles, by dotted
// path, value, kind and source. Gives those files with value, grade and source written in, all
// other members as they are. What a source states is `published`, what is recalled or derived
// `datasheet`. Problems: no such file, an unknown kind.
Checked<std::map<std::string, Json>> shipped_constants(const Json& constants,
                                                       const std::filesystem::path& profiles);

} // namespace trainyard
