#pragma once

// FSDP's units: layers whose parameters are gathered and freed together, and what has to be done to
// them around each visit of a step.

#include "sim/strategy/lower/data_parallel.h"

#include <optional>

namespace trainyard {

struct FsdpUnit {
    std::vector<std::size_t> layers; // of the stage, front to back
    LayerParameters parameters;      // of all of them
    LayerParameters trained;         // those with gradients
    bool root = false;               // stays gathered from forward to backward
};

// A gather of a unit's parameters: from the whole shard group, or from the few ranks that kept the
// unit between them after forward.
struct FsdpGather {
    std::size_t visit = 0;   // that needs it
    bool near = false;       // from the few ranks
    std::size_t freed = 0;   // the visit behind which the whole unit goes
    std::size_t free_at = 0; // the first visit at which the unit of the gather before has gone
};

struct FsdpVisit {
    std::size_t unit = 0;
    std::optional<std::size_t> gather;     // number of the gather that the visit needs
    bool frees = false;                    // behind it the whole unit goes
    std::optional<std::size_t> kept_until; // ... cut over few ranks, until this (near) gather
    bool takes_gradients = false;          // memory for the whole gradients of its unit
    std::optional<std::size_t> reduces;    // behind it they leave: the visit that took the memory
    bool last = false;                     // of its unit's backward passes in the step
};

struct FsdpPlan {
    std::vector<FsdpUnit> units;
    std::vector<FsdpVisit> visits;   // by visit
    std::vector<FsdpGather> gathers; // in the order in which they are needed
};

// Requires a resolved job with zero 3.
FsdpPlan plan_units(const Job& job, const StageContent& stage);

} // namespace trainyard
