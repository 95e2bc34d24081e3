#pragma once

#include "sim/study/training/training_request.h"

namespace trainyard {

// What one checkpoint takes.
struct CheckpointCost {
    Bytes bytes;    // 0: not known, the time is given
    Bandwidth rate; // to storage
    Seconds write;  // from its start until it may be restarted from
    Seconds block;  // of that, while no step runs

    bool operator==(const CheckpointCost&) const = default;
};

CheckpointCost checkpoint_cost(const WholeTrainingRequest& request);

} // namespace trainyard
