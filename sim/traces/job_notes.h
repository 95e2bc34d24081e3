#pragma once

// What people are told of how recorded ranks were read: what was mended, left out, or taken to be.

#include "sim/traces/job_trace.h"

namespace trainyard {

// Of what the files hold.
void note_files(const std::vector<DigestedRank>& ranks, JobTrace& job);

// Of ops and steps of ranks with a timeline; doubts host ops that no core computes.
void note_ranks(JobTrace& job);

} // namespace trainyard
