#pragma once

// Where the time of all lanes of a cohort goes, as instructions on the tape.
//
// Each gap before an op of the compute stream belongs to the ops that could hold it up: one after
// the other, in the order of the waits, they take the time until they begin or end. Which ops these
// are is known beforehand, so that a gap is a short list of "all until here goes there".

#include "sim/engine/replay/compose.h"
#include "sim/engine/replay/premises.h"

namespace trainyard::engine::replay {

// Sums of a cohort by lane; classes of exposed transfers follow.
enum class Sum : std::uint8_t { bubble, waiting, data, busy, classes };

struct CohortCharges {
    bool on_tape = false;              // else a Ledger charges each lane
    std::uint32_t last_compute = none; // the last op of the compute stream
    std::vector<std::uint32_t> tail;   // by stream: the first op that may end behind it
    // By stream: charges its tail from the end of the last compute op on; not on the tape.
    std::vector<Instr> tail_charges;
    // Of compute ops: kind of time, what they take alone, how many there are.
    std::map<std::pair<std::size_t, const TimeTable*>, std::uint32_t> computing;
};

struct ChargeRequest {
    const Program& program;
    const Cohorts& cohorts;
    const std::vector<Known>& known;
    const JoinsStages& stages;
};

// Adds them to the tape. One compute stream that has all compute ops is needed; a cohort without is
// left to a Ledger.
std::vector<CohortCharges> add_charges(const ChargeRequest& request, Composed& composed);

} // namespace trainyard::engine::replay
