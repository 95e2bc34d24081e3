#pragma once

// The smallest cluster on which a training runs at all, in words.

#include "sim/base/json.h"
#include "sim/study/capacity/capacity_plan.h"

namespace trainyard {

struct SmallestFit {
    int gpus = 0;
    std::string layout; // in words
    Seconds step_time;
    Scenario scenario; // that runs there
};

// Requires an outcome.
SmallestFit smallest_fit(const SizedCluster& sized);

std::string smallest_text(const SmallestFit& fit);

Json to_json(const SmallestFit& fit);

std::string gpus_text(int gpus); // "1 GPU"

} // namespace trainyard
