#pragma once

// Records as a picture needs them: rows of slices, small ones merged.

#include "sim/study/outcome.h"

namespace trainyard {

// What a picture shows a record as, once data moves.
TimeKind slice_kind_of(const OpRecord& record, const Label& label);

struct Slice {
    SimTime start;
    SimTime end;
    SimTime busy; // of it; less than its length where gaps were merged
    TimeKind kind = TimeKind::other_compute;
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

// Part of a step, from its beginning.
struct TimelineWindow {
    SimTime from;
    SimTime length;

    bool operator==(const TimelineWindow&) const = default;
};

struct TimelineOptions {
    std::size_t max_lanes = 16;
    std::size_t max_slices = 6000; // the resolution is made coarser until they suffice
    std::optional<TimelineWindow> window = {};
};

// The last recorded step: compute streams, communication and copy streams that did anything, and
// what the host itself loads.
// All sends and receives of a lane share a row, without the time that they wait for each other.
// Empty without records.
Timeline make_timeline(const Outcome& outcome, const TimelineOptions& options = {});

// The beginning of the step, long enough for `passes` passes of a micro-batch; none when the whole
// step has no more than that. `passes_of_step` is how many a device runs; 0: as many as the picture
// tells apart, which are fewer where they run beside each other.
std::optional<TimelineWindow> window_of_passes(const Timeline& whole, std::size_t passes,
                                               std::size_t passes_of_step = 0);

// Slices of one kind and micro-batch at most `resolution` apart become one. Passes stay whole:
// parts of one micro-batch's forward, or of its backward with its recomputation, are joined where
// they are too short to be told apart. What is still shorter than `resolution` is gathered into
// slices about as long. What is made of several kinds is shown as the one that takes longest.
// Requires order in time.
std::vector<Slice> merged(const std::vector<Slice>& slices, SimTime resolution);

} // namespace trainyard
