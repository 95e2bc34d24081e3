#pragma once

#include "calibrate/measure/samples.h"
#include "sim/cost/fingerprint.h"

namespace trainyard {

// The circumstances of a run, as its profile keeps them and as later ones are compared with.
Environment environment_of(const MeasuredRun& run);

} // namespace trainyard
