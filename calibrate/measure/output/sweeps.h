#pragma once

// Measured collectives as sweeps: what fits take and tables print.

#include "calibrate/import/sweep.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// One sweep for each collective, communicator, type and launch, sizes in growing order; both uses
// of the buffers in one. A point whose result was wrong is left out, and its sweep flagged.
std::vector<Sweep> collective_sweeps(const MeasuredRun& run);

// As nccl-tests prints it: size, count, type, times and bandwidths out of place and in place, wrong
// elements; a line per size after a heading per sweep.
std::string sweep_table(const Sweep& sweep);

} // namespace trainyard
