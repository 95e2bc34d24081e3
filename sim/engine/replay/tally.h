#pragma once

// What the measured step adds up to, by lane and by class of transfer.

#include "sim/engine/replay/charges.h"
#include "sim/engine/replay/ledger.h"
#include "sim/engine/replay/player.h"

namespace trainyard::engine::replay {

struct TallyRequest {
    const Program& program;
    const Binding& binding;
    const Cohorts& cohorts;
    const std::vector<Known>& known;
    const JoinsStages& stages;
    const SlowsCompute& slows;
    const Composed& composed;
};

// The values that it reads; they keep their columns until the step is over.
std::vector<Value> tallied_values(const Cohorts& cohorts, const Tape& tape,
                                  const std::vector<CohortCharges>& charges);

// Fills lanes, lane_ends, transfers and critical_lane of a result that has its step time. The
// player has played the measured step.
void tally(const TallyRequest& request, Tables& tables, Player& player, StepResult& result);

} // namespace trainyard::engine::replay
