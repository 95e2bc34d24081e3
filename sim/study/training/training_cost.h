#pragma once

#include "sim/study/training/failure_process.h"

namespace trainyard {

// Money and energy of a training that takes this long.
struct TrainingCost {
    std::optional<double> money; // absent: no price given
    double rent = 0;             // of it
    double electricity = 0;
    double storage = 0;
    double gpu_hours = 0;             // spares too
    std::optional<double> energy_kwh; // of the site; absent: no power known
    std::optional<double> mean_watts; // of the site
    std::optional<double> gpu_watts;  // rated, of a board

    bool operator==(const TrainingCost&) const = default;
};

// GPUs draw their busy share while steps run, lost ones too, and their stalled share else; spare
// nodes stall all the time.
TrainingCost training_cost(const WholeTrainingRequest& request, const FailureProcess& process,
                           const WallAccount& account);

// Rated power of a board in W, by the name of its model; nothing where none is known.
std::optional<double> rated_watts(const std::string& device);

} // namespace trainyard
