#pragma once

// What a simulation comes to: all that reports and further studies need of it.

#include "sim/cost/cost_model.h"
#include "sim/strategy/memory.h"
#include "sim/strategy/plan.h"
#include "sim/study/fidelity_choice.h"
#include "sim/study/prediction.h"
#include "sim/study/scenario.h"

#include <memory>

namespace trainyard {

struct EngineReport {
    TierUse use;
    FidelityChoice network;
    int ranks = 0;
    int lanes = 0; // simulated; fewer than ranks when folded
    std::uint64_t ops = 0;
    std::uint64_t events = 0;
    double wall_ms = 0; // of the whole simulation, compile and binding included
};

// All that one simulation knows. Shared parts are immutable.
struct Outcome {
    Scenario scenario; // its fidelity settled
    Job job;
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Topology> sound; // the same without perturbations
    int cluster_devices = 0;               // of all of it, also what the job leaves idle
    std::shared_ptr<const CostModel> cost;
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Binding> binding;
    BindOptions bound; // how
    std::shared_ptr<const StepResult> result;
    MemoryEstimate memory;
    PeakPrediction peak_memory; // of `memory`
    Prediction step_time;
    EngineReport engine;
    std::uint64_t input_hash = 0; // of scenario, model, topology and profile together
    Problems warnings;
};

} // namespace trainyard
