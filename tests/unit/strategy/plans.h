#pragma once

// Jobs small enough to reason about, with plans and clusters to run them on.

#include "sim/engine/engine.h"
#include "sim/strategy/lower/lower.h"

#include <functional>

namespace trainyard::testing {

// A decoder of 8 layers, hidden 1024, 8 heads; with experts: 8 of them, 2 per token.
Model small_decoder();
Model small_mixture();

// The request with defaults filled in; fails the test when it does not fit. `devices` = world.
Job job_of(const Model& model, const Strategy& strategy, const Training& training,
           const SoftwareClass& software = {});
// Micro-batches of one sequence of 1024 tokens.
Training training_of(std::int64_t global_batch);

// HGX H100 nodes of 8 GPUs on a rail fabric, and the profile shipped for them.
Topology h100_nodes(int nodes);
const CostModel& h100_costs();

StepResult run(const Program& program, const Binding& binding, int steps = 3,
               Fidelity fidelity = Fidelity::alpha_beta);
// Of the job's plan on one node.
Seconds step_time(const Job& job);

// Parameters of one rank of a stage.
LayerParameters stage_parameters(const Job& job, int stage = 0);

// Every op of one step of a role, in the order of issue.
void for_each_op(const Program& program, const Role& role,
                 const std::function<void(const Block&, const Op&, const BlockUse&)>& visit);

// What one rank of a stage hands to a collective (or message) of this kind in a step, summed.
struct Volume {
    int count = 0; // whole transfers; shares of a fused one add up
    double bytes = 0;
};
Volume volume(const Plan& plan, int stage, CollectiveKind kind, GroupKind group);

// Ends of step; durations of all compute, host and transfer costs as given.
struct ToyCosts {
    std::function<Seconds(const ComputeRequest&)> compute;
    std::function<Seconds(const TransferRequest&)> transfer; // null: nothing
    Seconds host_per_kernel = Seconds(0);
};
Binding with_costs(Binding binding, const Plan& plan, const ToyCosts& costs);

// Seconds of a phase's compute; nothing for the others.
std::function<Seconds(const ComputeRequest&)> phase_costs(Seconds forward, Seconds backward);

} // namespace trainyard::testing
