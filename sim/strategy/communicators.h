#pragma once

// Communicators of a job: which there are, and how long making them takes.

#include "sim/cost/network.h"
#include "sim/strategy/job.h"

namespace trainyard {

struct CommunicatorStart {
    int count = 0; // of the rank that has most to make
    Seconds time;  // one after the other, as frameworks make them
};

// Groups of the same ranks are one communicator; the whole job has one besides. Each takes
// creation + ranks x creation_per_rank (CollectiveForm).
CommunicatorStart communicator_start(const Job& job, const CollectiveForm& form);

} // namespace trainyard
