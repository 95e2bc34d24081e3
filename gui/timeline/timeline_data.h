#pragma once

// What the timeline shows: rows of slices in columns, and the tree of groups, ranks and streams
// that they hang in. A value; made for ten million slices.

#include "gui/model/view_state.h"
#include "sim/report/timeline/lane_time.h"
#include "sim/study/session.h"

#include <memory>
#include <span>
#include <unordered_map>

namespace trainyard::gui {

inline constexpr std::uint32_t nothing = 0xffffffff;

// Slices of all rows, row after row; in a row in time, none overlaps another or is empty.
struct SliceColumns {
    std::vector<SimTime> start;
    std::vector<SimTime> end;
    std::vector<TimeKind> kind;
    std::vector<std::uint32_t> name; // into TimelineData::names
    std::vector<RecordIndex> record; // of the run's records

    std::size_t size() const { return start.size(); }
    void resize(std::size_t count);
};

struct SliceRow {
    std::uint32_t first = 0; // into the columns
    std::uint32_t count = 0;
    std::uint32_t track = nothing;
    bool messages = false; // has sends or receives

    std::uint32_t end() const { return first + count; }
    bool operator==(const SliceRow&) const = default;
};

// Groups are nodes or stages; passes are parents of the compute stream's ops.
enum class TrackKind : std::uint8_t { group, rank, passes, stream };

// How ranks follow each other, and what groups them: nodes, stages, or nothing.
enum class LaneOrder : std::uint8_t { stage, rank, idle };
inline constexpr std::array lane_orders{LaneOrder::stage, LaneOrder::rank, LaneOrder::idle};
std::string_view title_of(LaneOrder order);

// A line of the timeline; its descendants follow it.
struct Track {
    TrackKind kind = TrackKind::stream;
    std::string name{};   // "rank 17"
    std::string detail{}; // "stage 2, node 2": what the name does not say
    std::uint32_t parent = nothing;
    std::uint32_t end = 0;       // one behind its last descendant
    std::uint32_t row = nothing; // rank: where its time goes; stream: its ops; group: none
    std::uint8_t depth = 0;
    std::uint8_t run = 0; // of two that are compared
    RankId rank{};        // rank, stream
    LaneId lane{};        // likewise
    StreamId stream{};    // stream

    bool operator==(const Track&) const = default;
};

// A run with its records, and what can be asked of them.
struct RecordedRun {
    explicit RecordedRun(std::shared_ptr<const Outcome> of);

    std::shared_ptr<const Outcome> outcome; // outlives the graph
    RecordGraph graph;                      // of the outcome's records
    SimTime origin;                         // where the last step begins
};

struct TimelineData {
    SliceColumns slices;
    std::vector<SliceRow> rows;
    std::vector<Track> tracks;
    std::vector<std::string> names; // no two alike
    TimeRange whole{SimTime(0), SimTime(1)};
    SimTime origin;                     // 0 on the time axis
    std::array<SimTime, 2> shift{};     // by run: what the picture adds to its times
    std::vector<std::string> run_names; // where there are two: "run A"
    std::unordered_map<std::uint64_t, std::uint32_t> row_index; // see row_of

    bool empty() const { return slices.size() == 0; }
    // Of a run's stream; nothing if it is not shown. Without a stream: where the rank's time goes.
    std::uint32_t row_of(std::uint8_t run, LaneId lane, StreamId stream = StreamId::none()) const;
    std::uint32_t row_of_slice(std::uint32_t slice) const;
    // The first slice of the row that ends after `time`; row.end() if none.
    std::uint32_t first_ending_after(const SliceRow& row, SimTime time) const;
    // That covers `time`, or nothing.
    std::uint32_t slice_at(const SliceRow& row, SimTime time) const;
    // That shows the end of a record of `run` on its stream, or nothing.
    std::uint32_t slice_of(std::uint8_t run, const OpRecord& record) const;
};

// Of a stream's row, for the index of rows.
std::uint64_t row_key(std::uint8_t run, LaneId lane, StreamId stream);

// All recorded ops of one run, or of two on one axis, their last steps beginning together: each
// rank of the first is followed by the same rank of the second. A job of one stage has its ranks
// by rank where they are to be by stage. On all cores; throws Cancelled.
TimelineData make_timeline_data(std::span<const RecordedRun* const> runs,
                                const WorkControl& work = {}, LaneOrder order = LaneOrder::rank);

} // namespace trainyard::gui
