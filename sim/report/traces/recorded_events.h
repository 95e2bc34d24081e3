#pragma once

// A recorded step as events of a trace, to stand beside those of the simulated one.

#include "sim/report/timeline/kineto.h"
#include "sim/traces/job_trace.h"

namespace trainyard {

// Writes the simulated step (its records) and one recorded step into one trace, both beginning at
// the same time: a process "rank 3" of the simulation, and "rank 3, recorded" with a thread for
// each stream. Compressed when the name ends in .gz. Throws WorldError.
void write_both_steps(const std::filesystem::path& path, const JobTrace& job,
                      const Outcome& simulated);

} // namespace trainyard
