#pragma once

// Stretches of the tape that only add constants.
//
// A collective leaves all members of its group at one time T. What follows on the lanes until
// something else is met is T plus the same constants every time, as long as nothing older holds it
// up: in max-plus terms a stretch is a vector, not a matrix. So its constants are found once, by
// playing it from T = 0, and each later time costs a check (nothing older is late: the host, other
// streams) and an addition for each time that somebody reads behind it. Where the check fails on
// some lane the stretch is played as it is written. Alike stretches share their constants.

#include "sim/engine/replay/compose.h"

namespace trainyard::engine::replay {

struct Stretch {
    std::uint32_t pattern = 0; // the same for alike stretches
    std::uint32_t cohort = 0;
    std::uint32_t instr_first = 0;
    std::uint32_t instr_count = 0;
    Value root = none;      // T
    Value base = none;      // of the host; none if it issues nothing here
    Time base_constant = 0; // added to it
    std::uint32_t outside_first = 0;
    std::uint32_t outside_count = 0;
    std::uint32_t result_first = 0;
    std::uint32_t result_count = 0;
    std::uint32_t beside_first = 0;
    std::uint32_t beside_count = 0;
    std::uint32_t own_first = 0;
    std::uint32_t own_count = 0;
};

struct Regions {
    std::uint32_t patterns = 0;
    std::vector<Stretch> stretches; // in the order of the tape
    std::vector<Value> values;      // of all stretches
    std::vector<RivalRange> ranges;

    // Other values from before the stretch.
    std::span<const Value> outside(const Stretch& of) const
    {
        return {values.data() + of.outside_first, of.outside_count};
    }
    // Values read behind it.
    std::span<const Value> results(const Stretch& of) const
    {
        return {values.data() + of.result_first, of.result_count};
    }
    // Transfers from before it that may slow its compute.
    std::span<const RivalRange> beside(const Stretch& of) const
    {
        return {ranges.data() + of.beside_first, of.beside_count};
    }
    // From where on its own do, to their end.
    std::span<const RivalRange> own(const Stretch& of) const
    {
        return {ranges.data() + of.own_first, of.own_count};
    }
};

// Puts the instructions of stretches side by side; before place_values, which must see the same
// tape. The tape is played so many `steps`.
Regions find_regions(const Cohorts& cohorts, Tape& tape, std::uint32_t steps);

} // namespace trainyard::engine::replay
