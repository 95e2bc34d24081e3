#pragma once

// Reads traces of PyTorch's profiler (Kineto's JSON, also packed with gzip) event by event, in
// memory that grows with the events kept, never with the text.

#include "sim/base/diagnostic.h"
#include "sim/base/progress.h"
#include "sim/traces/rank_trace.h"
#include "sim/traces/trace_bytes.h"

namespace trainyard {

// The ranks in one file: one, or those of an export of a simulated step. Refused with the line:
// what is no JSON, cut or damaged, without events of the profiler, without any of a GPU. Throws
// WorldError.
Checked<std::vector<RankTrace>> read_kineto(const std::string& file, const WorkControl& work = {});
Checked<std::vector<RankTrace>> read_kineto(TraceBytes& bytes);

} // namespace trainyard
