#pragma once

// Pipelines of equal virtual stages whose passes take given times.

#include "tests/unit/strategy/plans.h"

namespace trainyard::testing {

struct Pipeline {
    std::string schedule;
    PipelineShape shape;
    bool overlap = false;                  // of messages
    std::optional<bool> norm_in_turn = {}; // else as the schedule asks
};

struct PassTimes {
    Seconds forward;
    Seconds input;   // gradients of inputs; a whole backward pass takes both
    Seconds weights; // gradients of weights
    Seconds message = Seconds(0);
};

// Passes of every device. Fails the test when the schedule refuses the shape.
std::vector<std::vector<Pass>> passes_of(const Pipeline& pipeline);

// One layer per virtual stage with a product each way, no embedding, no head.
JobWork equal_stages(const Pipeline& pipeline);
Job job_of(const Pipeline& pipeline);

struct BoundPipeline {
    Program program;
    Binding binding;
};
BoundPipeline bound(const Pipeline& pipeline, const PassTimes& times);

struct PipelineRun {
    StepResult result; // with the records of its last step
    Program program;
};
PipelineRun run(const Pipeline& pipeline, const PassTimes& times, int steps = 3);

// Step time beyond the work of one device.
Seconds bubble(const Pipeline& pipeline, const PassTimes& times);

// Most chunks of a micro-batch at once between their forward pass and their last gradient.
int most_in_flight(const std::vector<Pass>& passes);

} // namespace trainyard::testing
