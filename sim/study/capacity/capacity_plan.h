#pragma once

// The smallest cluster of each kind that meets a goal, its best layout, and the whole training on
// it.

#include "sim/study/capacity/capacity_request.h"

namespace trainyard {

class Session;

// A cluster of one size.
struct SizedCluster {
    int nodes = 0;
    int gpus = 0;
    std::vector<std::string> reasons; // of values that were chosen for it
    // The best layout and its step. Nothing where none fits, or values do not fit together.
    std::optional<Scenario> scenario;
    std::optional<Outcome> outcome;
    std::optional<WholeTraining> training;
    // What is left out, and why nothing is left.
    std::uint64_t points = 0;
    std::uint64_t simulated = 0;
    std::optional<Bytes> least_memory; // of the layout that is nearest to fitting
    // Of a search that was interrupted: how much quicker another layout may be, as a share.
    std::optional<double> unproven;
    Problems problems;

    // With the certainty that is asked for.
    bool meets_goal() const { return meets_deadline() && training->meets_budget(); }
    bool meets_deadline() const { return training && training->meets_deadline(); }
};

struct ClusterAnswer {
    ClusterKind kind;
    std::vector<SizedCluster> sizes;      // all that were looked at, the smallest first
    std::optional<std::size_t> chosen;    // of them; none where no size meets the goal
    std::optional<SizedCluster> smallest; // that runs at all, where `kind` has too few nodes for it
};

struct CapacityPlan {
    std::string model;                   // its name
    std::string unpriced;                // which kinds have no price where others have
    std::vector<ClusterAnswer> clusters; // as they were asked for
    std::optional<std::size_t> best;     // of them: the cheapest; without prices the fewest GPUs
    bool interrupted = false;            // sizes may be missing
};

// Sizes grow by a third or a half until one meets the goal, then those between it and the one
// before are looked at by halving, in steps of a thirty-second: fewer GPUs between them may do.
// Where there are prices larger ones are looked at as long as they cost less. A
// goal without tokens asks for the size with which most are learned by the deadline within the
// budget. Sizes of `scaling` are looked at, too. Without a goal no cluster is. Problems: of the
// model and of values that no cluster can have, contradictions in the goal.
Checked<CapacityPlan> capacity_plan(const CapacityRequest& request, Session& session);

// A training of such steps, on as many devices.
WholeTrainingRequest with_step_of(const Outcome& outcome, WholeTrainingRequest request);

// The most tokens by the deadline and within the budget, where steps take as long as `training`
// says; 0: none.
double tokens_within(const WholeTrainingRequest& training);

} // namespace trainyard
