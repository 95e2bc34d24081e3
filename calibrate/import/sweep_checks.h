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

// Bytes a second into or out of one GPU that no link of it surpasses: NVLink per direction.
// Source: NVIDIA data sheets (V100 150, A100 300, H100 450, B200 900 GB/s); cards without NVLink:
// PCIe 5.0 x16, 64 GB/s. Unknown GPUs: NVLink 6, 1,800 GB/s.
Bandwidth fastest_link(std::string_view device);

// What keeps sweeps of several files from being one calibration: versions of NCCL and GPUs that
// differ.
std::vector<std::string> disagreements(std::span<const Sweep> sweeps);

} // namespace trainyard
