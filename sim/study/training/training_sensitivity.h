#pragma once

#include "sim/study/training/whole_training.h"

namespace trainyard {

// One assumption moved down and up, all others as they are.
struct TrainingSensitivity {
    std::string name; // of the assumption
    std::string low_value, high_value;
    // Nothing where the training then never ends, or the value cannot be.
    std::optional<Seconds> low_wall, high_wall;
    std::optional<double> low_money, high_money;

    // Between the two ends, with the answer itself; infinite where an end is missing.
    double swing(Seconds wall) const;
};

// Each assumption that plays a part, the one that moves the days most first; those that move only
// the cost follow, by cost.
std::vector<TrainingSensitivity> training_sensitivities(const WholeTraining& training);

} // namespace trainyard
