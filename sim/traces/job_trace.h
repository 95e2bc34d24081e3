#pragma once

// The recorded ranks of one job together: whether they are of one run, what their process groups
// are for, which collectives belong together, how far their clocks are apart.

#include "sim/base/diagnostic.h"
#include "sim/traces/rank_activity.h"

namespace trainyard {

// What is known of a process group from all ranks recorded.
struct JobTraceGroup {
    std::string name;
    std::string purpose;           // as the job describes it; may tell nothing
    int ranks = 0;                 // 0: not known
    std::vector<int> members;      // empty: not listed in full
    std::optional<GroupKind> role; // by its description, else by what it carries and when
    bool role_stated = false;      // by its description

    bool operator==(const JobTraceGroup&) const = default;
};

// One collective as its recorded members saw it.
struct MatchedCollective {
    struct Member {
        std::size_t rank = 0; // place in JobTrace::ranks
        std::size_t op = 0;   // place in its ops
    };
    std::vector<Member> members;
    bool complete = false; // no member is missing
};

struct JobTrace {
    std::vector<RankActivity> ranks; // by rank
    std::optional<int> world;
    std::string backend;
    std::string device;     // model
    bool simulated = false; // exports of a simulated step
    std::vector<JobTraceGroup> groups;
    std::vector<MatchedCollective> collectives; // that two recorded ranks or more took part in
    std::vector<TraceTime> clock_offsets;       // of each rank's clock to the first one's
    std::vector<TraceTime> offset_spreads;      // median distance of ends from it
    std::vector<std::string> doubts;            // whether they are of one run; for people
    std::vector<std::string> assumed;           // likewise for people

    const JobTraceGroup* group_of(const TraceTransfer& transfer) const;
    std::optional<GroupKind> role_of(const TraceTransfer& transfer) const;
};

// A rank whose events were made its activity: a fraction of the memory.
struct DigestedRank {
    RankTrace file; // without events and names
    RankActivity activity;
};
DigestedRank digest(RankTrace&& trace);

// Refused: a rank twice, world sizes or groups that contradict each other, no step in common,
// collectives of one group that differ from rank to rank, traces with times among such without,
// ranks recorded at other times. Doubtful: where clocks cannot tell that, and steps of other
// lengths. `listed` are groups that a file beside execution traces tells. Requires a trace.
Checked<JobTrace> join_ranks(std::vector<DigestedRank> ranks,
                             const std::vector<TraceGroup>& listed = {});

} // namespace trainyard
