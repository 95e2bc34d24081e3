#pragma once

#include "calibrate/measure/output/machine_study.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// What a run measured as one HTML file that needs no network: the machine, verdicts, pairs as heat
// maps, kernels, what happens beside one another, and the fit of every collective.
std::string calibrate_html(const MeasuredRun& run, const MachineStudy& study);

} // namespace trainyard
