#pragma once

// A profile from own steps, told: what the steps say, what contradicts them, what to measure next.

#include "sim/base/json.h"
#include "sim/study/own_steps/own_steps.h"

namespace trainyard {

struct OwnStepsReport {
    MeasuredSteps steps; // that the fit is of
    RateFit fit;
    std::vector<StepContradiction> contradictions; // steps that were left out
    std::vector<FurtherRun> further;
    std::string target; // whose step further runs are chosen for; empty: the rates themselves
};

// What a step contradicts, and what would explain it.
std::string contradiction_text(const StepContradiction& found);

std::string own_steps_text(const OwnStepsReport& report);

Json to_json(const OwnStepsReport& report);

} // namespace trainyard
