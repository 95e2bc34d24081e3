#pragma once

// A tape, and what belongs to it.

#include "sim/engine/replay/tape.h"

namespace trainyard::engine::replay {

// Transfers of a class that move data for the same times: these are not summed as they are played.
struct Moving {
    enum class By : std::uint8_t { lane, partner, group };
    std::uint32_t total = 0; // its place in Totals::classes
    By by = By::lane;        // whose time is in the table
    std::uint32_t where = 0; // partner: pipe; group: meeting
    const TimeTable* table = nullptr;

    friend bool operator==(const Moving&, const Moving&) = default;
};

using Movings = std::vector<std::pair<Moving, std::uint32_t>>; // and how many

inline void count_one(Movings& known, const Moving& moving)
{
    for (auto& [of, count] : known)
        if (of == moving) {
            ++count;
            return;
        }
    known.emplace_back(moving, 1);
}

// What the ops of a cohort add up to, by class of transfer (collective x group kind).
struct Totals {
    std::vector<std::uint32_t> classes; // in use
    std::vector<std::uint32_t> index;   // by class: in `classes`, or none
    Movings moving;
    Movings exposed; // of these, the gathers that hold up compute
};

// Sums of a cohort by lane; classes of exposed transfers follow.
enum class Sum : std::uint8_t { bubble, waiting, data, slowed, classes };

struct CohortCharges {
    bool on_tape = false;              // else a Ledger charges each lane
    std::uint32_t last_compute = none; // the last op of the compute stream
    std::vector<std::uint32_t> tail;   // by stream: the first op that may end behind it
    // By stream: charges its tail from the end of the last compute op on; not on the tape.
    std::vector<Instr> tail_charges;
    // Of compute ops: kind of time, what they take alone, how many there are.
    std::map<std::pair<std::size_t, const TimeTable*>, std::uint32_t> computing;
};

struct Composed {
    Tape tape;
    std::vector<Totals> totals;                       // by cohort
    std::vector<std::vector<const TimeTable*>> times; // by cohort, op: that take time
    std::vector<CohortCharges> charges;               // by cohort
};

} // namespace trainyard::engine::replay
