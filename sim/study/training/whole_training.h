#pragma once

#include "sim/study/training/expected_time.h"
#include "sim/study/training/training_cost.h"

namespace trainyard {

// 90 % of the wall time: by when things fail, and by how sure the step time is.
struct WallInterval {
    Seconds low, high;
};

// Whether the step time has no interval of its own.
bool is_step_sure(const WholeTrainingRequest& request);

// What the step time's own interval makes of one by failures alone. Wall times follow the step
// time; on each side of the mean the logarithms of the two errors add up as squares.
WallInterval with_step_interval(const WholeTrainingRequest& request, Seconds mean,
                                const WallInterval& by_failures);

// The answer: days, where they go, and what they cost.
struct WholeTraining {
    WholeTrainingRequest request;
    StepCount steps;
    FailureProcess process; // with the interval that was given, or the best
    ExpectedTime time;      // of steps that take what was estimated
    WallInterval wall;
    TrainingCost cost;
    std::optional<double> in_time;   // chance to meet the deadline, where there is one
    std::optional<double> in_budget; // chance to cost no more than the budget, likewise
    std::vector<std::string> assumptions;

    Seconds interval() const { return process.work() / static_cast<double>(process.segments); }
    bool meets_deadline() const { return in_time.value_or(1) >= request.certainty; }
    bool meets_budget() const { return in_budget.value_or(1) >= request.certainty; }
    double goodput() const { return time.account.goodput(); }
};

// Problems: values that contradict each other, and failures so often that the training never ends.
Checked<WholeTraining> whole_training(const WholeTrainingRequest& request);

} // namespace trainyard
