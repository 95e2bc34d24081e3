#pragma once

// Reads what Nsight Systems exports as SQLite (`nsys export --type sqlite`): kernels, graphs whose
// kernels were not recorded, copies, calls of the CUDA runtime and NVTX ranges, row by row.

#include "sim/base/diagnostic.h"
#include "sim/base/progress.h"
#include "sim/traces/rank_trace.h"

namespace trainyard {

inline constexpr std::string_view sqlite_magic("SQLite format 3\0", 16);

// One rank for each process that used a GPU, in the order of their devices: the report names no
// ranks. Ranges that PyTorch's emit_nvtx wrote are its ops, with shapes; ranges that differ by a
// number at their end alone and follow each other are steps; NCCL's are its collectives, with the
// bytes that their payloads state. Refused by table and row: what has no kernels, lacks columns,
// or states times beyond any clock's. Throws WorldError.
Checked<std::vector<RankTrace>> read_nsight(const std::string& file, const WorkControl& work = {});

} // namespace trainyard
