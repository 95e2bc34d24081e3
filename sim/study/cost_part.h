#pragma once

// The constants that a scenario is timed with: the profile it names, or the shipped one for its
// devices, with its framework's class of software and what its launch variables change.

#include "sim/cost/cost_model.h"
#include "sim/study/environment_effects.h"
#include "sim/study/memo.h"
#include "sim/study/scenario.h"

namespace trainyard {

// Costs, and what launch variables do to the job besides.
struct CostPart {
    std::shared_ptr<const CostModel> cost;
    std::uint64_t hash = 0; // of the profile and the variables
    EnvironmentEffects effects;
    Problems warnings; // refused variables too, as errors
};

struct CostMemos {
    Memo<CostPart> parts{16};    // by what chooses a profile from the shipped data
    Memo<Profile> assembled{16}; // from the shipped data, before the scenario's own software
    Memo<CostModel> models{16};  // by the profile's content
};

// Null with the problems added.
std::shared_ptr<const CostPart> build_cost(const ScenarioFile& file, const Topology& topology,
                                           std::uint64_t topology_hash, CostMemos& memos,
                                           Problems& problems);

// The profile that the scenario names: a file beside the scenario, else as it is written.
std::string profile_path(const ScenarioFile& file);

// The constants that a step was timed with (`timed`), without what its scenario changed of them.
Checked<Profile> stated_constants(const ScenarioFile& file, const Profile& timed);

} // namespace trainyard
