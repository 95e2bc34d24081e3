#pragma once

// Times as texts with as many digits as tell neighbours apart.

#include "sim/base/quantity.h"

#include <string>

namespace trainyard::gui {

// To the picosecond but without noise: six significant digits, "93.2104 ms", "-1.5 us".
std::string time_text(SimTime time);

// A time since the step began: "12.3 ms into the step", "1.5 us before the
// step", "the step's beginning". Before it lies what the host issued ahead.
std::string moment_text(SimTime since);

// One label of an axis whose neighbours are `step` apart, in the unit that suits the `largest` time
// on it: "93.2 ms".
std::string axis_text(SimTime time, SimTime step, SimTime largest);

} // namespace trainyard::gui
