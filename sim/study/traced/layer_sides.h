#pragma once

// A recorded step beside the simulated one, layer by layer and micro-batch by micro-batch.

#include "sim/study/outcome.h"
#include "sim/traces/job_trace.h"

namespace trainyard {

struct TimePair {
    Seconds recorded;
    Seconds simulated;

    bool operator==(const TimePair&) const = default;
};

// Neighbours that are alike; layers are numbered in the model from 0, embedding and head left out.
struct LayerPair {
    int first = 0;
    int last = 0;
    TimePair compute; // of one of them in one micro-batch: medians over these, micro-batches, steps
    TimePair elapsed; // from its first kernel's begin to its last one's end, waits included

    bool operator==(const LayerPair&) const = default;
};

// Forward, or backward with what it computes again. Times of kernels that compute, per micro-batch.
struct PassSides {
    TimePair all;
    TimePair embedding;            // before the layers, or behind those of backward
    TimePair head;                 // loss included
    std::vector<LayerPair> layers; // empty: see `untold`
    std::string untold;            // why layers are not compared, for people; empty: they are
    // Where they are not for that: how often the recorded kernels repeat, and the scenario's
    // layers.
    std::size_t recorded_passes = 0;
    std::size_t simulated_passes = 0;
    double alike = 0; // share of what recorded layers run that all of them do

    bool operator==(const PassSides&) const = default;
};

// Of the recorded ranks of one stage of the pipeline.
struct StageSides {
    int stage = 0;
    std::vector<int> ranks;
    int micro_batches = 1; // of the scenario, as the recording's
    PassSides forward;
    PassSides backward;
    TimePair update; // kernels of the optimizer and of what ends a step
    TimePair other;  // of no known phase

    bool operator==(const StageSides&) const = default;
};

// By stage; empty where no rank was recorded that the simulation kept. Micro-batches and layers of
// the recording are those of the scenario in the order in which they run: what repeats in the
// recorded kernels has to repeat as often. Requires records of the last step.
std::vector<StageSides> layer_sides(const JobTrace& job, const Outcome& simulated);

} // namespace trainyard
