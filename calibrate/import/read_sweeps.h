#pragma once

// Sweeps from a file of any kind that holds some: nccl-tests text or JSON, or a collection.

#include "calibrate/import/raw_sweep.h"

namespace trainyard {

// `file` names it in messages, and may hint at ranks and nodes ("h100_2x8_allreduce.txt"). The
// problems when no sweep can be used; else those that can, and in the notes what was refused.
Checked<ImportedSweeps> read_sweeps(std::string_view text, const std::string& file,
                                    const SweepHints& hints = {});

// Throws WorldError when the file cannot be read.
Checked<ImportedSweeps> read_sweeps_file(const std::string& path, const SweepHints& hints = {});

// "all_reduce among 8 ranks on 1 node: 29 sizes, 8 B to 2 GiB, 12.9 us to 480 GB/s, float, ...":
// the time of the smallest size, and the best bus bandwidth.
std::string describe(const Sweep& sweep);

} // namespace trainyard
