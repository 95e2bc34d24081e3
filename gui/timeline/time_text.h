#pragma once

// Times as texts with as many digits as tell neighbours apart.

#include "sim/base/quantity.h"

#include <string>

namespace trainyard::gui {

// To the picosecond but without noise: six significant digits, "93.2104 ms", "-1.5 us".
std::string time_text(SimTime time);

// One label of an axis whose neighbours are `step` apart, in the unit that suits the `largest` time
// on it: "93.2 ms".
std::string axis_text(SimTime time, SimTime step, SimTime largest);

} // namespace trainyard::gui
