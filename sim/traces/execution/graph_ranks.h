#pragma once

// Execution traces as ranks of one job.

#include "sim/traces/execution/execution_trace.h"
#include "sim/traces/job_trace.h"

namespace trainyard {

// The rank with what its trace says as a whole. Refused as `activity_of` does.
Checked<DigestedRank> digest(ExecutionTrace&& trace);

// Says of transfers whose trace states what goes into a rank how many ranks they join, by the
// groups listed beside the traces (comm_group.json), and so how large the whole buffer is; 0 of
// gathers among an unknown number. Traces of ranks 0 to n - 1 are taken to be of all ranks, which
// is noted.
void complete_transfers(std::vector<DigestedRank>& ranks, const std::vector<TraceGroup>& listed,
                        std::vector<std::string>& assumed);

} // namespace trainyard
