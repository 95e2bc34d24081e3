#pragma once

// Records as a picture needs them: rows of slices, small ones merged.

#include "sim/study/session.h"

namespace trainyard {

// How a slice is coloured.
enum class SliceKind : std::uint8_t {
    forward,
    backward,
    recompute,
    optimizer,
    other,
    tp,
    cp,
    ep,
    dp,
    pp,
    waiting, // in a collective whose members have not all arrived
    host,
    data
};
inline constexpr std::size_t slice_kind_count = 13;

std::string_view title_of(SliceKind kind);

struct Slice {
    SimTime start;
    SimTime end;
    SimTime busy; // of it; less than its length where gaps were merged
    SliceKind kind = SliceKind::other;
    std::uint16_t micro_batch = BlockUse::no_index;
    std::string title; // of the op, or of the first of several
    std::size_t ops = 1;

    bool operator==(const Slice&) const = default;
};

struct TimelineRow {
    std::string name; // of the stream
    StreamKind kind = StreamKind::compute;
    std::vector<Slice> slices; // in time, none overlap
};

struct TimelineLane {
    LaneId lane;
    RankId rank;
    std::string name; // "stage 2 (rank 17)"
    std::vector<TimelineRow> rows;
};

struct Timeline {
    SimTime start;
    SimTime end;
    std::vector<TimelineLane> lanes;

    std::size_t slice_count() const;
};

struct TimelineOptions {
    std::size_t max_lanes = 16;
    std::size_t max_slices = 6000; // the resolution is made coarser until they suffice
};

// The last recorded step. Compute streams, and communication and copy streams that did anything.
// Empty without records.
Timeline make_timeline(const Outcome& outcome, const TimelineOptions& options = {});

// Slices of one kind and micro-batch at most `resolution` apart become one; what is still shorter
// than that is gathered into slices about as long, coloured as their longest part. Requires order
// in time.
std::vector<Slice> merged(const std::vector<Slice>& slices, SimTime resolution);

} // namespace trainyard
