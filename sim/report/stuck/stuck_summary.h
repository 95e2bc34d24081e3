#pragma once

// Who is stuck, where, since when and because of whom: ranks that wait alike in one row, those
// nearest to the culprit first.

#include "sim/study/stuck.h"

#include <string>
#include <vector>

namespace trainyard {

// Ranks as a few of their numbers; `count` has those folded into them too.
struct SomeRanks {
    std::vector<int> numbers; // the lowest first, at most 8
    int count = 0;

    bool operator==(const SomeRanks&) const = default;
};

// A place in a rank's program, in words.
struct StuckPlace {
    std::string op;         // label
    std::string collective; // kind of transfer; empty for others
    std::string stream;
    Phase phase = Phase::other;
    std::optional<int> micro_batch;
    std::optional<int> layer;
    std::string layer_name;
    int step = 1;        // counted from 1
    int steps_after = 0; // the measured one

    bool operator==(const StuckPlace&) const = default;
};

struct StuckCulprit {
    int rank = 0;
    int ranks = 1; // that stop alike, itself included
    int node = 0;
    int stage = 0;
    StopKind kind = StopKind::hangs;
    Seconds at; // since the measured step began
    StuckPlace place;
};

// Transfers of one kind in which ranks wait.
struct StuckWait {
    int distance = 1; // 1: for a culprit itself, 2: for those who wait for one, ...
    StuckPlace place;
    GroupKind group = GroupKind::world;
    int group_ranks = 2; // members of each
    int transfers = 0;
    WaitCause cause = WaitCause::absence;
    Seconds since; // the first of them
    SomeRanks waiting;
    SomeRanks missing;
};

struct StuckNotice {
    int rank = 0;
    StuckPlace place;
    Backend backend = Backend::nccl;
    Seconds issued;   // since the measured step began
    Seconds time_out; // later
    bool is_default = true;
};

struct StuckSummary {
    std::vector<StuckCulprit> culprits;
    std::vector<StuckWait> waits;
    std::optional<StuckNotice> notice; // none: nobody waits, or for ever
    int ranks = 0;                     // of the job
    int waiting = 0;                   // of them
};

StuckSummary summarize(const Stuck& stuck);

// In lines of at most `width` cells, 80 or more.
std::string stuck_text(const StuckSummary& summary, std::size_t width = 100);
Json stuck_json(const StuckSummary& summary);

} // namespace trainyard
