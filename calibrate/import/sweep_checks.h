#pragma once

// Whether the numbers of a sweep can be true: what makes them doubtful is flagged, what makes them
// useless is refused.

#include "calibrate/import/raw_sweep.h"

#include <span>

namespace trainyard {

// Takes the rows of `raw` that hold up into `sweep`: rows without bytes, repeated rows, and rows
// whose time, size and rate contradict each other stay out, and that is said. Returns why the whole
// is refused, or nothing.
std::string take_rows(const RawSweep& raw, Sweep& sweep, ImportNotes& notes);

// Flags what is doubtful about a settled sweep; returns why it is refused, or nothing.
std::string check_sweep(const RawSweep& raw, Sweep& sweep);

// Bytes a second into or out of one GPU that no link of it surpasses, by its device file. A GPU
// that none is of: twice what any known device has, as the next generation would.
Bandwidth fastest_link(std::string_view device);

// What keeps sweeps of several files from being one calibration: versions of NCCL and GPUs that
// differ.
std::vector<std::string> disagreements(std::span<const Sweep> sweeps);

} // namespace trainyard
