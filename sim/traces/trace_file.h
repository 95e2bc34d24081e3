#pragma once

// A file of a recorded rank, of whatever kind: what it is its beginning tells, not its name.

#include "sim/base/progress.h"
#include "sim/traces/job_trace.h"

namespace trainyard {

struct TraceFile {
    std::vector<DigestedRank> ranks;
    std::vector<TraceGroup> groups; // of a list of communicators beside execution traces
};

// Whether the file begins as a trace that is read below: of Kineto, Nsight Systems, an execution
// trace, communicators beside it; or is packed as only these may be. Throws WorldError.
bool begins_as_trace(const std::string& file);

// Reads traces of PyTorch's profiler (Kineto), execution traces of PyTorch and of mlcommons/chakra
// (JSON, protobuf), and Chakra's comm_group.json, each also packed with gzip, and what Nsight
// Systems exports as SQLite. Refused with line or byte: archives, what is cut or damaged, what is
// of another tool. Throws WorldError.
Checked<TraceFile> read_trace_file(const std::string& file, const WorkControl& work = {});

} // namespace trainyard
