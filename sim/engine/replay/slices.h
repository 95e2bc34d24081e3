#pragma once

// Runs of instructions that can be played on one slice of the lanes after the other.
//
// What leads from one lane to another mostly stays among neighbours in number: tensor-parallel
// groups, and the lane of the same index in the stage before or behind. Between two instructions
// that lead further, a slice is played to its end while its columns are in the cache.

#include "sim/engine/replay/regions.h"

namespace trainyard::engine::replay {

// As many lanes as make the price of an instruction small beside that of its loop.
inline constexpr std::size_t slice_lanes = 256;

// Lanes of every cohort: indices [first, first + count).
struct Slice {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint32_t number = none; // none: these are all
};

struct Run {
    std::uint32_t first = 0; // instructions
    std::uint32_t end = 0;
    bool sliced = false; // else on all lanes at once
};

struct Slices {
    std::vector<Run> runs;
    std::vector<Slice> slices;
};

// Stretches stay in one run.
Slices find_slices(const Cohorts& cohorts, const Tape& tape, const Regions& regions);
// All lanes at once.
Slices without_slices(const Tape& tape);

} // namespace trainyard::engine::replay
