#pragma once

// What a recorded step says of a profile's rates, as values: no simulator.

#include "sim/study/own_steps/own_rates.h"
#include "sim/study/own_steps/own_steps.h"
#include "sim/study/traced/side_by_side.h"
#include "sim/study/traced/traced_constants.h"

namespace trainyard {

// What the trace tells of, a time per rank and step.
struct TracedClass {
    std::string title; // "products", "transfers inside a domain"
    Seconds recorded;
    Seconds before; // simulated
    Seconds after;  // with the rates that were found

    bool operator==(const TracedClass&) const = default;
};

struct TraceFit {
    RateFit rates; // of all own_rates()
    std::vector<TracedClass> classes;
    Seconds recorded; // the step
    Seconds before;
    Seconds after;
    double recorded_kernels = 0; // a rank and step
    double simulated_kernels = 0;
    std::vector<TracedCurve> curves;
    std::vector<TracedLoss> losses;
    std::vector<std::string> left_out; // as in TracedConstants
    std::vector<std::string> doubts;   // whether the recording is of the scenario's job, for people
    Json profile;                      // the base with the rates and constants, whole
};

} // namespace trainyard
