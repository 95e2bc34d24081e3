#include "gui/tests/recorded_job.h"
#include "gui/timeline/timeline_data.h"
#include "tests/catch.h"

#include <map>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

TimelineData data_of(const RecordedRun& run)
{
    const RecordedRun* one = &run;
    return make_timeline_data({&one, 1});
}

} // namespace

TEST_CASE("rows are in time, without overlap, and every record of some length is in one")
{
    const RecordedRun run(recorded_job());
    const TimelineData data = data_of(run);
    std::map<RecordIndex, std::int64_t> shown;
    for (const SliceRow& row : data.rows) {
        REQUIRE(row.count > 0);
        for (std::uint32_t i = row.first; i < row.end(); ++i) {
            REQUIRE(data.slices.end[i] > data.slices.start[i]);
            if (i > row.first)
                REQUIRE(data.slices.start[i] >= data.slices.end[i - 1]);
            if (data.tracks[row.track].kind == TrackKind::stream)
                shown[data.slices.record[i]] += (data.slices.end[i] - data.slices.start[i]).value();
        }
    }
    const auto& records = run.graph.records();
    for (RecordIndex i = 0; i < records.size(); ++i)
        REQUIRE(shown[i] == (records[i].end - records[i].start).value());
}

TEST_CASE("the tree has every rank and stream, and rows know their tracks")
{
    const RecordedRun run(recorded_job());
    const TimelineData data = data_of(run);
    std::size_t ranks = 0;
    for (std::uint32_t t = 0; t < data.tracks.size(); ++t) {
        const Track& track = data.tracks[t];
        ranks += track.kind == TrackKind::rank;
        REQUIRE(track.end > t);
        if (track.parent != nothing) {
            CHECK(data.tracks[track.parent].end >= track.end);
            CHECK(data.tracks[track.parent].depth + 1 == track.depth);
        }
        if (track.row != nothing) {
            CHECK(data.rows[track.row].track == t);
            if (track.kind != TrackKind::passes) // of no stream
                CHECK(data.row_of(0, track.lane, track.stream) == track.row);
        }
    }
    CHECK(ranks == 8);
    CHECK(data.tracks[0].name == "rank 0");
    CHECK(data.tracks[0].detail == "stage 0, node 0");
    for (std::uint32_t i = 0; i < data.slices.size(); i += 97) {
        const SliceRow& row = data.rows[data.row_of_slice(i)];
        CHECK((row.first <= i && i < row.end()));
    }
}

TEST_CASE("a record is found again on its row")
{
    const RecordedRun run(recorded_job());
    const TimelineData data = data_of(run);
    const auto& records = run.graph.records();
    for (RecordIndex i = 0; i < records.size(); ++i)
        if (records[i].end > records[i].start) {
            const std::uint32_t slice = data.slice_of(0, records[i]);
            REQUIRE(slice != nothing);
            REQUIRE(data.slices.record[slice] == i);
            REQUIRE(data.slices.end[slice] == records[i].end);
        }
}

TEST_CASE("a rank's own row shows its time without gaps")
{
    const RecordedRun run(recorded_job());
    const TimelineData data = data_of(run);
    const SliceRow& row = data.rows[data.row_of(0, LaneId{3})];
    for (std::uint32_t i = row.first + 1; i < row.end(); ++i)
        REQUIRE(data.slices.start[i] == data.slices.end[i - 1]);
    // As much bubble as the engine says: the step of a lane is not longer than the whole.
    SimTime bubble;
    for (std::uint32_t i = row.first; i < row.end(); ++i)
        if (data.slices.kind[i] == TimeKind::bubble)
            bubble += data.slices.end[i] - data.slices.start[i];
    const auto& lane = run.outcome->result->lanes[3];
    CHECK_THAT(
        to_seconds(bubble).value(),
        WithinRel(to_seconds(lane.time[static_cast<std::size_t>(TimeKind::bubble)]).value(), 0.02));
}

TEST_CASE("two runs lie side by side, rank by rank, their last steps beginning together")
{
    const RecordedRun run(recorded_job());
    const RecordedRun slower(recorded_job(5));
    REQUIRE(slower.origin > run.origin); // its first step took longer, too
    const std::array both{&run, &slower};
    const TimelineData data = make_timeline_data(both);
    REQUIRE(data.shift[0] == SimTime(0));
    CHECK(data.shift[1] == run.origin - slower.origin);
    std::vector<std::pair<std::uint32_t, int>> ranks;
    for (const Track& track : data.tracks)
        if (track.kind == TrackKind::rank)
            ranks.emplace_back(track.rank.value, track.run);
    REQUIRE(ranks.size() == 16);
    CHECK(ranks[0] == std::pair(0U, 0));
    CHECK(ranks[1] == std::pair(0U, 1));
    CHECK(ranks[2] == std::pair(1U, 0));
    const auto& records = slower.graph.records();
    const std::uint32_t slice = data.slice_of(1, records.back());
    REQUIRE(slice != nothing);
    CHECK(data.slices.end[slice] == records.back().end + data.shift[1]);
}
