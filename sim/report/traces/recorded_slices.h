#pragma once

// A recorded step op by op, as pictures need it: times from its beginning on one clock.

#include "sim/base/progress.h"
#include "sim/engine/engine.h"
#include "sim/traces/job_trace.h"

namespace trainyard {

// A transfer that waits first has two: one while it waits, one while data move.
struct RecordedSlice {
    SimTime start;
    SimTime end;
    TimeKind kind = TimeKind::other_compute;
    std::uint32_t op = 0; // place in RankActivity::ops

    bool operator==(const RecordedSlice&) const = default;
};

struct RecordedStream {
    std::uint32_t stream = 0;
    TraceTime computing;               // without transfers
    std::vector<RecordedSlice> slices; // in time, none overlap or are empty
};

// Where a rank's time goes; gaps between queued kernels are left out.
struct RecordedPiece {
    SimTime start;
    SimTime end;
    TimeKind kind = TimeKind::other_compute;

    bool operator==(const RecordedPiece&) const = default;
};

struct RecordedLane {
    std::size_t rank = 0; // place in JobTrace::ranks
    SimTime begin;        // of its step
    SimTime end;
    std::vector<RecordedStream> streams; // that compute most first
    std::vector<RecordedPiece> pieces;   // in time
};

struct RecordedPicture {
    std::vector<RecordedLane> lanes; // by rank
    SimTime end;                     // of the last rank's step; the first one's begins at 0
};

// That step of the first ranks, at most `most`. Requires one of common_steps and a trace with a
// timeline. Throws Cancelled.
RecordedPicture recorded_picture(const JobTrace& job, int step, std::size_t most,
                                 const WorkControl& work = {});

} // namespace trainyard
