#pragma once

// Times as texts with as many digits as tell neighbours apart.

#include "sim/base/quantity.h"

#include <string>

namespace trainyard::gui {

// To the picosecond but without noise: six significant digits, "93.2104 ms", "-1.5 us".
std::string time_text(SimTime time);

// One label of an axis whose neighbours are `step` apart: "93.2 ms".
std::string axis_text(SimTime time, SimTime step);

} // namespace trainyard::gui
