#pragma once

// What a passage takes on one lane where nothing holds it up.

#include "sim/engine/ahead/loads.h"
#include "sim/engine/ahead/passages.h"
#include "sim/engine/replay/ledger.h"

namespace trainyard::engine::ahead {

// Times count from the start of its first op; ops are stream after stream of the shape.
struct Learned {
    enum class State : std::uint8_t { nothing, all, given_up };

    State state = State::nothing;
    std::uint8_t failures = 0;
    Time computed = 0; // when its compute is over
    Time host = 0;     // the host need not have issued the first op this much before its start
    std::uint64_t leaps = 0;        // in the measured step
    std::vector<std::uint32_t> ops; // of the kind, those that it was learned from
    std::vector<Time> start, end;
    std::vector<u128> work;              // of compute
    std::vector<replay::LaneLoad> loads; // of transfers; empty where nothing slows compute
    std::vector<Loads::Change> takes;    // of the device
};

// The passage that a lane learns from as it goes through it op by op.
struct Watch {
    const Passage* passage = nullptr;
    std::uint32_t step = 0;
    std::uint32_t ops_left = 0;
    Time begin = 0;
};

} // namespace trainyard::engine::ahead
