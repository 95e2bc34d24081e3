#pragma once

// All that the timeline of one run, or of two, is made of. Built once, then only read.

#include "gui/timeline/overview.h"
#include "gui/timeline/pyramid.h"

namespace trainyard::gui {

struct TimelineModel {
    // Outcomes with records; the second is compared with the first. Takes a second per five million
    // records or so: not for the thread that paints.
    // Throws Cancelled.
    explicit TimelineModel(const std::vector<std::shared_ptr<const Outcome>>& outcomes,
                           const WorkControl& work = {}, LaneOrder order = LaneOrder::rank);

    // Of slices that were laid out elsewhere. Rows of a run that is not among `of` belong to none:
    // nothing is known of their causes and peers.
    explicit TimelineModel(TimelineData laid_out,
                           std::vector<std::unique_ptr<const RecordedRun>> of = {});

    // Null: none.
    const RecordedRun* run_of(const SliceRow& row) const;
    std::uint8_t run_number(const SliceRow& row) const { return data.tracks[row.track].run; }
    const SliceRow& row_at(std::uint32_t slice) const
    {
        return data.rows[data.row_of_slice(slice)];
    }
    // The slice of a record of that run, or nothing.
    std::uint32_t slice_of(std::uint8_t run, RecordIndex record) const;

    std::vector<std::unique_ptr<const RecordedRun>> runs;
    TimelineData data;
    std::vector<RowPyramid> pyramids;           // by row
    std::vector<Bucket> overview;               // of the whole time
    std::array<bool, time_kind_count> occurs{}; // by kind of time
    bool blank = false; // some rank has stretches of no kind: nothing runs, as between recorded ops
    std::vector<PathPiece> path; // the first run's critical path

private:
    void find_kinds();
};

// A message between two slices, from the sender's to the receiver's.
struct Arrow {
    std::uint32_t from = nothing;
    std::uint32_t to = nothing;

    bool operator==(const Arrow&) const = default;
};

// What has to do with a slice; all of it slices.
struct Relations {
    StartCause cause = StartCause::nothing; // why its op started when it did ...
    std::uint32_t caused_by = nothing;
    std::uint32_t last_to_come = nothing; // who set a transfer's data moving
    std::vector<std::uint32_t> effects;   // started by its end, in time
    std::vector<std::uint32_t> peers;     // of its collective
    std::vector<Arrow> messages;

    bool operator==(const Relations&) const = default;
};

// Empty for where a rank's time goes, which is no op.
Relations relations_of(const TimelineModel& model, std::uint32_t slice);

// Messages of which an end is among these slices of `row`.
std::vector<Arrow> arrows_of(const TimelineModel& model, const SliceRow& row, std::uint32_t first,
                             std::uint32_t end);

} // namespace trainyard::gui
