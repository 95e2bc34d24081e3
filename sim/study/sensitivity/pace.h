#pragma once

// Who sets the pace of a perturbed job, how long others wait for it, and what the step would take
// without it.

#include "sim/study/outcome.h"

namespace trainyard {

class Session;

// What members of one kind of group waited for the rank that sets the pace, in the measured step,
// in the transfers to which it came last. As a monitored barrier would see it.
struct WaitRow {
    GroupKind group = GroupKind::world;
    int members = 0;   // of the group that waited longest; of a message 2
    int transfers = 0; // collectives or messages to which it came last
    Seconds mean;      // over the other members
    Seconds longest;   // of the one that waited longest
    int longest_rank = 0;
};

// One entry of `perturbations`.
struct CulpritRow {
    std::size_t entry = 0;
    Perturbation perturbation;
    Seconds without; // the step time, simulated again without it
};

struct Pace {
    int rank = 0; // the least idle of those that the costliest entry names, else of all
    std::vector<WaitRow> waits;       // longest first
    std::vector<CulpritRow> culprits; // the one that costs most first
    Seconds without_all;
    int not_tried = 0;         // entries, the last ones, of which the cost is not known
    int lanes_not_watched = 0; // that share a transfer with `rank`; they miss in `waits`
};

// Nothing when the scenario perturbs nothing. Simulates again: for the waits, without each entry
// (as many as are quick, at least the first eight) and without all.
std::optional<Pace> find_pace(const Outcome& outcome, const ScenarioFile& file, Session& session);

} // namespace trainyard
