#pragma once

// nccl-tests output as people keep it: several runs in one file, tags of launchers, lines of NCCL
// in between, text around it, any age of the tests.

#include "calibrate/import/raw_sweep.h"

namespace trainyard {

// Every table of the log, a sweep for each run of sizes in it. `notes.ignored` says what was passed
// over; whether the numbers hold up is for others to see (settle.h).
std::vector<RawSweep> read_nccl_text(std::string_view text, ImportNotes& notes);

} // namespace trainyard
