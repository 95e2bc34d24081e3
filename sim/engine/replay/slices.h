#pragma once

// Runs of instructions that can be played on one slice of the lanes after the other.
//
// What leads from one lane to another mostly stays among neighbours in number: tensor-parallel
// groups, and the lane of the same index in the stage before or behind. Between two instructions
// that lead further, a slice is played to its end while its columns are in the cache.

#include "sim/engine/replay/player.h"

namespace trainyard::engine::replay {

struct Run {
    std::uint32_t first = 0; // instructions
    std::uint32_t end = 0;
    bool sliced = false; // else on all lanes at once
};

struct Slices {
    std::vector<Run> runs;
    std::vector<Slice> slices;
};

Slices find_slices(const Cohorts& cohorts, const Tape& tape);

} // namespace trainyard::engine::replay
