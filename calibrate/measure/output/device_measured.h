#pragma once

// What a run measured of GPUs, as the constants of their profile.

#include "calibrate/fit/fit_profile.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// A profile of the run's collectives (fit_profile) on a device whose products, memory, host copies
// and interference are those measured, as far as they were. `request`: what the user says.
Checked<FittedProfile> gpu_profile(const MeasuredRun& run, FitRequest request);

} // namespace trainyard
