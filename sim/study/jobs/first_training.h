#pragma once

// What a first scenario trains with, whatever its layout: precision, sequences and batch.

#include "sim/study/jobs/starting_point.h"
#include "sim/study/stages.h"

namespace trainyard {

// A scenario without a strategy, and one sentence for each value that was chosen.
struct FirstTraining {
    Scenario scenario; // a batch that was not asked for is the usual one, to be fitted
    bool fits_batch = false;
    std::vector<std::string> reasons;
};

// Model and cluster as a scenario would have them, with any training.
Checked<Parts> start_parts(const StartRequest& request);

// What `request` leaves open is as usual: the 16-bit format of the device, sequences of 4,096
// tokens (or what learned positions reach), about a million tokens a step and more on many GPUs.
// Where that batch is found to divide over no layout that fits, `instead` is the one that does.
FirstTraining first_training(const StartRequest& request, const Parts& parts,
                             std::optional<std::int64_t> instead = {});

// About the usual batch, in a number that many sizes of data parallelism over so many devices
// divide. The devices are those that layouts use: some of a domain may be left idle.
std::int64_t fitted_batch(std::int64_t usual, int devices);

// Why a first scenario has that batch.
std::string batch_reason(const Model& model, const Training& training);

} // namespace trainyard
