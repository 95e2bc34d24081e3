#pragma once

// What NVTX ranges say of a rank: PyTorch's ops, NCCL's collectives, steps.

#include "sim/traces/rank_trace.h"

namespace trainyard {

struct NvtxRange {
    TraceSpan span;
    std::uint64_t thread = 0;
    std::string text;
    std::string payload; // JSON; empty: none
    bool of_nccl = false;
};

// Adds the range to what the host did.
void keep_range(RankTrace& rank, const NvtxRange& range);

// Names ranges that count steps as PyTorch's profiler does ("ProfilerStep#5"): of those that differ
// by a number at their end alone, follow each other and number two or more, the family that covers
// the most time. Requires that nothing is called so already.
void name_steps(RankTrace& rank);

} // namespace trainyard
