#pragma once

// Chrome trace JSON with the names that PyTorch's profiler (Kineto) writes, so that its tools and
// Perfetto read a simulated step like a measured one.

#include "sim/study/outcome.h"

namespace trainyard {

struct TraceOptions {
    std::vector<RankId> ranks{}; // these only (one file per rank is what trace analysers want);
                                 // empty: all that were recorded
    std::string more_events{};   // behind the step's own, as they are written; may be empty
};

// One process per rank, one thread per stream and one for the host. A collective's slice covers its
// kernel, waiting included; `transfer_start_us` says when data began to move where that was later.
// Times are microseconds to the nanosecond, as Kineto's.
std::string kineto_trace(const Outcome& outcome, const TraceOptions& options = {});

// Writes it; compressed when the name ends in .gz. Throws WorldError.
void write_kineto_trace(const std::filesystem::path& path, const Outcome& outcome,
                        const TraceOptions& options = {});

} // namespace trainyard
