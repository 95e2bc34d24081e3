#pragma once

// Where the time of a recorded step goes, in the kinds of a simulated one.

#include "sim/engine/engine.h"
#include "sim/traces/transfer_times.h"

namespace trainyard {

// Of one rank in one step. `time`, `gaps` and `untold` add up to the step.
struct StepAccount {
    std::array<TraceTime, time_kind_count> time{}; // no slowdown: a trace does not tell it apart
    TraceTime gaps;   // nothing runs though the host has issued the next op
    TraceTime untold; // nothing runs, and whether it has was not recorded
    TraceTime step;
    TraceTime compute_busy;       // anything but transfers runs
    TraceTime communication_busy; // a transfer's kernel is there, waiting included
    std::array<TraceTime, device_work_count> work{};    // lengths of all ops, overlapped or not
    std::array<std::uint64_t, device_work_count> ops{}; // how many

    TraceTime& of(TimeKind kind) { return time[static_cast<std::size_t>(kind)]; }
    TraceTime of(TimeKind kind) const { return time[static_cast<std::size_t>(kind)]; }
};

// A stretch of a step and what it counts as.
struct StepPiece {
    TraceSpan span;
    std::optional<TimeKind> kind; // none: nothing runs, and that is not the host's

    bool operator==(const StepPiece&) const = default;
};

// Whatever computes counts as its phase, copies within the device too; then transfers that move
// data, by what their group is for; then those that wait (for another stage: bubble, else waiting);
// then copies from and to the host. Where nothing runs, or nothing that ends before the next op
// that computes begins, it is the host's time up to when it issued that; untold, where the launch
// of what runs next was not recorded.
StepAccount step_account(const JobTrace& job, const std::vector<TransferMoving>& times,
                         std::size_t rank, const TraceSpan& step);

// The same in time, without holes; neighbours differ.
std::vector<StepPiece> step_pieces(const JobTrace& job, const std::vector<TransferMoving>& times,
                                   std::size_t rank, const TraceSpan& step);

} // namespace trainyard
