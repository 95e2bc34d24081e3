#pragma once

#include "sim/report/summary.h"

namespace trainyard {

inline constexpr std::string_view result_format = "trainyard.result/1";

// The machine-readable result (`--json`): SI units in the names of the keys, shares from 0 to 1.
Json to_json(const Outcome& outcome, const Summary& summary);

} // namespace trainyard
