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
    Value root = none;          // T
    Value base = none;          // of the host; none if it issues nothing here
    Time base_constant = 0;     // added to it
    std::vector<Value> outside; // other values from before the stretch
    // Transfers that may slow its compute: those from before it, and where its own begin.
    std::vector<RivalRange> beside;
    std::vector<RivalRange> own; // to their end
    std::vector<Value> results;  // read behind it
};

struct Regions {
    std::uint32_t patterns = 0;
    std::vector<Stretch> stretches; // in the order of the tape
};

// Puts the instructions of stretches side by side; before place_values, which must see the same
// tape. `noted`: values that others read as they are written.
Regions find_regions(const Cohorts& cohorts, Tape& tape, const std::vector<Value>& noted);

} // namespace trainyard::engine::replay
