#pragma once

// Stretches of the code that only add constants.
//
// A collective leaves all members of its group at one time T. What follows on the lanes until
// something else is met is T plus the same constants every time, as long as nothing older holds it
// up: in max-plus terms a stretch is a vector, not a matrix. So its constants are found once, by
// executing it from T = 0, and each later time costs a check (nothing older is late: the host,
// other streams) and an addition for each time that somebody reads behind it. Where the check fails
// on some lane the stretch is executed as it is written. Alike stretches share their constants.

#include "sim/engine/replay/generated_code.h"

namespace trainyard::engine::replay {

struct Stretch {
    std::uint32_t pattern = 0; // the same for alike stretches
    std::uint32_t lane_class = 0;
    std::uint32_t instr_first = 0;
    std::uint32_t instr_count = 0;
    Value root = none;      // T
    Value base = none;      // of the host; none if it issues nothing here
    Time base_constant = 0; // added to it
    std::uint32_t outside_first = 0;
    std::uint32_t outside_count = 0;
    std::uint32_t result_first = 0;
    std::uint32_t result_count = 0;
    std::uint32_t overlap_first = 0;
    std::uint32_t overlap_count = 0;
    std::uint32_t own_overlap_first = 0;
    std::uint32_t own_overlap_count = 0;
};

struct Stretches {
    std::uint32_t patterns = 0;
    std::vector<Stretch> all;  // in the order of the code
    std::vector<Value> values; // of all stretches
    std::vector<OverlapRange> ranges;

    // The other values from before the stretch that it reads.
    std::span<const Value> outside(const Stretch& of) const
    {
        return {values.data() + of.outside_first, of.outside_count};
    }
    // The values of the stretch that are read behind it.
    std::span<const Value> results(const Stretch& of) const
    {
        return {values.data() + of.result_first, of.result_count};
    }
    // The transfers from before it that may slow its compute.
    std::span<const OverlapRange> overlaps(const Stretch& of) const
    {
        return {ranges.data() + of.overlap_first, of.overlap_count};
    }
    // The transfers of the stretch itself that may slow its compute.
    std::span<const OverlapRange> own_overlaps(const Stretch& of) const
    {
        return {ranges.data() + of.own_overlap_first, of.own_overlap_count};
    }
};

// Puts the instructions of stretches side by side; call before allocate_columns, which must see the
// same code. The code is executed so many `steps`.
Stretches find_stretches(const LaneClasses& lane_classes, StepCode& code, std::uint32_t steps);

} // namespace trainyard::engine::replay
