#pragma once

// What a run on the CPUs of hosts measured, as the fit of their profile takes it.

#include "calibrate/fit/host_profile.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// Its name is the caller's to fill in.
HostMeasured host_measured(const MeasuredRun& run);

} // namespace trainyard
