#pragma once

#include "calibrate/fit/reference.h"

namespace trainyard {

// Measured tables beside published figures: one line for each, a column for each band of sizes.
std::string standing_text(std::span<const TableStanding> standings, const std::string& device);

Json to_json(std::span<const TableStanding> standings, const std::string& device);

} // namespace trainyard
