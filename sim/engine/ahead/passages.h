#pragma once

// Uses of blocks that go alike every time (README.md): compute on the one stream for it and what
// waits for that alone.

#include "sim/engine/ahead/device_load.h"
#include "sim/engine/compile.h"
#include "sim/engine/replay/ledger.h"

namespace trainyard::engine::ahead {

struct PassageStream {
    std::uint8_t stream = 0; // of the kind
    std::uint32_t ops = 0;
};

// What passages have in common whose ops and inner waits are the same.
struct PassageShape {
    std::vector<PassageStream> streams; // the one that computes comes first
    std::uint64_t mask = 0;             // of these
    std::uint32_t ops = 0;
};

struct Passage {
    std::uint32_t shape = 0;
    std::uint32_t begin = 0; // op of the kind: the one that waits for what was before
    std::uint32_t first = 0; // into Passages::first
};

struct Passages {
    std::vector<PassageShape> shapes;
    std::vector<Passage> all;         // in the order of their first ops
    std::vector<std::uint32_t> first; // op of the kind, by passage and stream of its shape
    std::uint64_t computing = 0;      // streams that compute, in passages or elsewhere

    std::uint32_t first_of(const Passage& passage, std::size_t stream) const
    {
        return first[passage.first + stream];
    }
};

// The passages of a kind's step; none where several streams compute.
Passages passages_of(const Program& program, const LaneKind& kind);

// The times of a passage on one lane where nothing holds it up. They count from the start of its
// first op; ops are stream after stream of the shape.
struct PassageTimes {
    enum class State : std::uint8_t { nothing, all, given_up };

    State state = State::nothing;
    std::uint8_t failures = 0;
    Time computed = 0;      // when its compute is over
    Time host = 0;          // the host need not have issued the first op this much before its start
    std::uint64_t uses = 0; // in the measured step
    std::vector<std::uint32_t> ops; // of the kind, those that it was learned from
    std::vector<Time> start, end;
    std::vector<u128> work;                // of compute
    std::vector<replay::LaneLoad> loads;   // of transfers; empty where nothing slows compute
    std::vector<DeviceLoad::Change> takes; // of the device
};

// The passage that a lane learns from as it goes through it op by op.
struct Watch {
    const Passage* passage = nullptr;
    std::uint32_t step = 0;
    std::uint32_t ops_left = 0;
    Time begin = 0;
};

} // namespace trainyard::engine::ahead
