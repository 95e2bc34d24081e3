#pragma once

// The work of a replica whose loss is made elsewhere.

#include "sim/strategy/lower/job_work.h"

namespace trainyard {

struct ReplicaWork {
    JobWork work;             // without the loss, where another device makes it
    std::vector<Kernel> loss; // of one replica's outputs, there and back
    Bytes output;             // of one replica
    Bytes loss_memory;        // that the loss keeps of one replica's outputs
};

ReplicaWork replica_work(const Job& job, const JobWork& work, bool makes_loss);

} // namespace trainyard
