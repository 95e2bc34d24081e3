#pragma once

// When each transfer of a recorded rank began to move data: before that its kernel waits for
// others.

#include "sim/traces/job_trace.h"

namespace trainyard {

enum class MovingFrom : std::uint8_t {
    stated,   // by the trace
    arrivals, // all members were recorded: when the last one came
    quickest, // the quickest of its group, kind and size is taken to have waited for nobody
    own_start // too few like it: waiting cannot be told from moving
};

struct TransferMoving {
    TraceTime moving_from; // on the clock of its rank, between its start and end
    MovingFrom source = MovingFrom::own_start;
    int last_arriver = -1; // rank; -1: not known
};

// By rank and transfer, as in JobTrace::ranks. What is known of some members alone bounds the
// estimate from below.
std::vector<std::vector<TransferMoving>> transfer_times(const JobTrace& job);

} // namespace trainyard
