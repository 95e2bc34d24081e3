#pragma once

// The JSON output of nccl-tests (-J; versions 1 to 3 of its form).
//
// Its `env` is the whole environment of the process and holds secrets: only the variables that
// change paths are looked at, the rest is dropped unseen.

#include "calibrate/import/raw_sweep.h"

namespace trainyard {

bool is_nccl_json(const Json& json);

// One sweep for each data type, reduction and root of its `results`.
std::vector<RawSweep> read_nccl_json(const Json& json, ImportNotes& notes);

} // namespace trainyard
