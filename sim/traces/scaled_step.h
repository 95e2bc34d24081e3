#pragma once

// A recorded step on more ranks: the same work on each, data parallelism over as many more.

#include "sim/cost/cost_model.h"
#include "sim/topology/topology.h"
#include "sim/traces/rebuilt_step.h"

namespace trainyard {

// A kind of transfer whose group grows; times are those in which data move.
struct ScaledTransfer {
    CollectiveKind kind = CollectiveKind::all_reduce;
    GroupKind role = GroupKind::dp;
    std::uint64_t bytes = 0;
    int ranks = 0; // as recorded
    int scaled_ranks = 0;
    Seconds recorded;
    Seconds scaled;
    Seconds expected;      // by the constants, as recorded
    bool may_wait = false; // the recorded time is an estimate that may hold waiting, which is kept

    bool operator==(const ScaledTransfer&) const = default;
};

struct ScaledStep {
    int world = 0;  // as recorded
    int scaled = 0; // ranks
    Seconds recorded;
    Seconds rebuilt;                       // with what ops took on all recorded ranks ...
    Seconds scaled_step;                   // ... and with transfers of larger groups
    std::vector<ScaledTransfer> transfers; // without repeats, those that take longest first
    std::size_t unchanged = 0;             // transfers of unknown group, kind or size: as recorded

    // How many times as long as by the constants the transfers took, in the mean; 1 where all times
    // may hold waiting.
    double slowness() const;
    // Of the recorded step, by the growth of the rebuilt one.
    Seconds predicted() const { return (scaled_step / rebuilt) * recorded; }
};

// Groups of data parallelism (of several layers of it the outermost) grow `ranks` / world times;
// all others, the batch of a rank and the bytes of each transfer stay. A transfer takes what `cost`
// says of the larger group on `topology`, times what it took over what `cost` says of the recorded
// one, and never less than it took. Where only the larger one crosses NVLink domains, what was
// faster than `cost` says inside one is no reason to be so across them. Where the time it took may
// hold waiting for ranks that were not recorded, only what `cost` explains of it grows. Problems
// where the world is unknown, does not divide `ranks`, is all of them, or no group is of data
// parallelism or carries what can be timed. Ranks are the topology's first devices in order.
Checked<ScaledStep> scale_step(const JobTrace& job, int ranks, const Topology& topology,
                               const CostModel& cost, const WorkControl& work = {});

} // namespace trainyard
