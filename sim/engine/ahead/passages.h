#pragma once

// Uses of blocks that go alike every time (README.md): compute on the one stream for it and what
// waits for that alone.

#include "sim/engine/compile.h"

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

// Those of a kind's step: none where several streams compute.
Passages passages_of(const Program& program, const LaneKind& kind);

} // namespace trainyard::engine::ahead
