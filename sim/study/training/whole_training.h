#pragma once

#include "sim/study/training/expected_time.h"
#include "sim/study/training/training_cost.h"

namespace trainyard {

// The answer: days, where they go, and what they cost.
struct WholeTraining {
    WholeTrainingRequest request;
    StepCount steps;
    FailureProcess process; // with the interval that was given, or the best
    ExpectedTime time;
    TrainingCost cost;
    std::optional<double> in_time; // chance to meet the deadline, where there is one
    std::vector<std::string> assumptions;

    Seconds interval() const { return process.work() / static_cast<double>(process.segments); }
    double goodput() const { return time.account.goodput(); }
};

// Problems: values that contradict each other, and failures so often that the training never ends.
Checked<WholeTraining> whole_training(const WholeTrainingRequest& request);

} // namespace trainyard
