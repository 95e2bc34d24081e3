#pragma once

// What a first scenario trains with, whatever its layout: precision, sequences and batch.

#include "sim/study/jobs/starting_point.h"
#include "sim/study/stages.h"

namespace trainyard {

// A scenario without a strategy, and one sentence for each value that was chosen.
struct FirstTraining {
    Scenario scenario;
    std::vector<std::string> reasons;
};

// What `request` leaves open is as usual: the 16-bit format of the device, sequences of 4,096
// tokens (or what learned positions reach), about a million tokens a step and more on many GPUs, in
// a number that many sizes of data parallelism divide. Where that batch is found to divide over no
// layout that fits, `instead` is the one that does.
FirstTraining first_training(const StartRequest& request, const Parts& parts,
                             std::optional<std::int64_t> instead = {});

} // namespace trainyard
