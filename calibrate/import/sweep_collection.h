#pragma once

// A list of sweeps as JSON: the form of published collections, and of what `trainyard import`
// writes (format "trainyard.sweeps/1").
//
//     [{"id": ..., "hardware": ..., "nodes": 2, "nranks": 16, "collective": "all_reduce", "dtype":
//     "float",
//       "nccl_version": "2.28.3", "env": ["NCCL_ALGO=Ring"], "rows": [{"size_B": 8, "count": 2,
//       "time_us": 12.25, "algbw_GBps": 0.0, "busbw_GBps": 0.0, "inplace": false, "wrong": "0"},
//       ...]}, ...]

#include "calibrate/import/raw_sweep.h"

namespace trainyard {

inline constexpr std::string_view sweeps_format = "trainyard.sweeps/1";

// A list of such sweeps, or an object whose `sweeps` is one.
bool is_sweep_collection(const Json& json);

// Reads and checks them; those that are refused are in the notes.
ImportedSweeps read_sweep_collection(const Json& json, const std::string& file);

// Reading it back gives the same sweeps.
Json to_json(const std::vector<Sweep>& sweeps);

} // namespace trainyard
