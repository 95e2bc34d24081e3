#pragma once

// Ranges of instructions that can be executed on one slice of the lanes after the other, and the
// columns that values have then.
//
// What leads from one lane to another mostly stays among neighbours in number: tensor-parallel
// groups, and the lane of the same index in the stage before or behind. Between two instructions
// that lead further, a slice is executed to its end while its columns are in the cache.

#include "sim/engine/replay/stretches.h"

namespace trainyard::engine::replay {

// As many lanes as make the price of an instruction small beside that of its loop.
inline constexpr std::size_t slice_lanes = 256;

// The lanes [first, first + count), by index, of every lane class.
struct Slice {
    std::size_t first = 0;
    std::size_t count = 0;
    std::uint32_t number = none; // none: these are all
};

struct InstrRange {
    std::uint32_t first = 0; // instructions
    std::uint32_t end = 0;
    bool sliced = false; // else on all lanes at once
};

struct Slices {
    std::vector<InstrRange> ranges;
    std::vector<Slice> slices;
};

// Finds the ranges; no stretch is divided between two.
Slices find_slices(const LaneClasses& lane_classes, const StepCode& code,
                   const Stretches& stretches);
// One range of all instructions, on all lanes at once.
Slices without_slices(const StepCode& code);

// Allocates a column for each value, as registers are: values that are not live together share one.
// Inputs, and values that are kept, have one to themselves.
void allocate_columns(StepCode& code, const LaneClasses& lane_classes, const Slices& slices);

} // namespace trainyard::engine::replay
