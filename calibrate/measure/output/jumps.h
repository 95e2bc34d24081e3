#pragma once

#include "calibrate/measure/samples.h"

namespace trainyard {

// A line per curve that added sizes did not make smooth: where it is known least, and in how many
// other places. Over all launches; empty: every curve is known as well as was asked for.
std::vector<std::string> jumps_of(const MeasuredRun& run);

} // namespace trainyard
