#pragma once

// The loop itself: steps of one rank, their times over all ranks, and whether their results agree.

#include "tests/validation/loop/perceptron.h"
#include "tests/validation/loop/reducer.h"

#include <string>

namespace trainyard::loop {

struct TrainingPlan {
    NetworkSizes sizes;
    std::optional<BucketLimits> overlap; // buckets beside backward; else all at once after it
    int steps = 20;
    int warm_up = 5; // steps before them, not timed
};

// Medians over steps of the slowest rank's seconds. Parts of a step are each rank's own times: the
// slowest of one part is not that of another.
struct TrainingResult {
    int ranks = 1;
    std::vector<double> steps; // the slowest rank's, in order
    double step = 0;
    double forward = 0;
    double backward = 0;
    double waiting = 0; // for gradients, after backward
    double update = 0;
    std::size_t buckets = 0;
    std::uint64_t bytes_per_step = 0; // that each rank's all-reduces had
    double first_loss = 0;            // the largest of a rank
    double last_loss = 0;
    bool ranks_agree = false; // gradients of each warm-up step, parameters at the end: bit by bit
};

// Collective. Throws what the group throws.
TrainingResult train(Group& group, const TrainingPlan& plan);

// One JSON object.
std::string to_json(const TrainingResult& result);

} // namespace trainyard::loop
