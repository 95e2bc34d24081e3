#include "gui/tests/random_rows.h"
#include "gui/tests/recorded_job.h"
#include "gui/timeline/row_cells.h"
#include "gui/timeline/slice_facts.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

const TimelineModel& job()
{
    static const TimelineModel model({recorded_job()});
    return model;
}

// The slice of the first record for which it holds.
template <class Holds>
std::uint32_t slice_where(const TimelineModel& model, const Holds& holds)
{
    const auto& records = model.runs.front()->graph.records();
    const auto found = std::find_if(records.begin(), records.end(), holds);
    REQUIRE(found != records.end());
    return model.slice_of(0, static_cast<RecordIndex>(found - records.begin()));
}

std::string value_of(const SliceFacts& facts, const std::string& name)
{
    for (const Fact& fact : facts.facts)
        if (fact.name == name)
            return fact.value;
    return "";
}

} // namespace

TEST_CASE("cause and effect of a slice are each other's")
{
    const TimelineModel& model = job();
    std::size_t checked = 0;
    for (std::uint32_t slice = 0; slice < model.data.slices.size(); slice += 1501) {
        if (model.data.tracks[model.row_at(slice).track].kind != TrackKind::stream)
            continue;
        const Relations relations = relations_of(model, slice);
        for (const std::uint32_t effect : relations.effects) {
            const std::uint32_t cause = relations_of(model, effect).caused_by;
            CHECK(model.data.slices.record[cause] == model.data.slices.record[slice]);
            ++checked;
        }
    }
    CHECK(checked > 20);
}

TEST_CASE("a collective's peers are the other ranks of its group")
{
    const TimelineModel& model = job();
    const std::uint32_t slice = slice_where(model, [](const OpRecord& record) {
        return record.kind == OpKind::collective && record.lane == LaneId{2};
    });
    const Relations relations = relations_of(model, slice);
    REQUIRE(relations.peers.size() == 1); // TP 2, DP 2
    const Relations back = relations_of(model, relations.peers[0]);
    CHECK(back.peers == std::vector{slice});
}

TEST_CASE("an arrow goes from every send in sight to its receive")
{
    const TimelineModel& model = job();
    std::set<std::pair<std::uint32_t, std::uint32_t>> arrows;
    std::size_t rows = 0;
    for (const SliceRow& row : model.data.rows) {
        rows += row.messages;
        if (row.messages)
            for (const Arrow& arrow : arrows_of(model, row, row.first, row.end()))
                arrows.insert({arrow.from, arrow.to});
    }
    CHECK(rows == 16); // two streams of each of eight ranks
    // 16 micro-batches, forward and backward, between four pairs of ranks.
    CHECK(arrows.size() == 16 * 2 * 4);
    for (const auto& [from, to] : arrows)
        CHECK(model.data.slices.start[from] <= model.data.slices.end[to]);
}

TEST_CASE("the details of a transfer name bytes, group, algorithm, bandwidth and why it started")
{
    const TimelineModel& model = job();
    const std::uint32_t slice = slice_where(model, [](const OpRecord& record) {
        return record.kind == OpKind::collective && record.bytes > Bytes(14'000'000) &&
               record.bytes < Bytes(15'000'000);
    });
    const SliceFacts facts = facts_of(model, slice);
    CHECK_THAT(facts.title, StartsWith("tp "));
    CHECK_THAT(value_of(facts, "transfer"), ContainsSubstring("of 15.0 MB"));
    CHECK_THAT(value_of(facts, "group"), StartsWith("TP, 2 ranks: "));
    CHECK(value_of(facts, "algorithm") == "ring");
    CHECK_THAT(value_of(facts, "bus bandwidth"), ContainsSubstring("GB/s (algorithm "));
    CHECK_FALSE(value_of(facts, "started when this ended").empty());
    CHECK_FALSE(value_of(facts, "peer").empty());
}

TEST_CASE("the details of compute name its work, and what idle time waits for")
{
    const TimelineModel& model = job();
    const SliceFacts work =
        facts_of(model, slice_where(model, [](const OpRecord& r) {
                     return r.kind == OpKind::compute && r.end - r.start > SimTime(300'000'000);
                 }));
    CHECK_THAT(value_of(work, "work"), ContainsSubstring("FLOP/s"));
    const auto& slices = model.data.slices;
    const SliceRow& row = model.data.rows[model.data.row_of(0, LaneId{0})];
    std::uint32_t bubble = row.first;
    while (bubble < row.end() && slices.kind[bubble] != TimeKind::bubble)
        ++bubble;
    REQUIRE(bubble < row.end());
    CHECK_THAT(value_of(facts_of(model, bubble), "waits for"), ContainsSubstring("pp "));
}

TEST_CASE("slices of no run have times and names, and nothing else is asked of them")
{
    const TimelineModel model(random_rows(2, 50, 1));
    const SliceFacts facts = facts_of(model, 7);
    CHECK(facts.facts.size() == 2);
    CHECK(relations_of(model, 7) == Relations{});
}

TEST_CASE("wide slices are those that cover so many pixels, each once")
{
    const TimelineModel model(random_rows(1, 5000, 12));
    const SliceRow& row = model.data.rows[0];
    for (const double zoom : {1.0, 20.0, 700.0}) {
        TimeScale scale{model.data.whole, 0, 1000};
        scale.range = scale.zoomed(zoom, model.data.whole.length() / 2);
        std::vector<Bucket> cells(1000);
        fill_cells(model.data, row, model.pyramids[0], scale.range, cells);
        std::vector<std::uint32_t> found;
        find_wide_slices(model.data, row, scale, cells, 6, found);
        std::vector<std::uint32_t> known;
        for (std::uint32_t i = row.first; i < row.end(); ++i) {
            const double left = std::max(0.0, scale.x_of(model.data.slices.start[i]));
            const double right = std::min(1000.0, scale.x_of(model.data.slices.end[i]));
            if (right - left >= 6)
                known.push_back(i);
        }
        INFO("zoom " << zoom);
        // Those at the edges may be wide only beyond them.
        std::erase_if(found, [&](std::uint32_t i) {
            return std::find(known.begin(), known.end(), i) == known.end() &&
                   (scale.x_of(model.data.slices.start[i]) < 0 ||
                    scale.x_of(model.data.slices.end[i]) > 1000);
        });
        CHECK(found == known);
    }
}

TEST_CASE("what is moved by whole cells keeps those that stay in sight")
{
    const TimelineModel model(random_rows(3, 5000, 12));
    const TrackLayout layout(model.data);
    constexpr std::size_t width = 500;
    constexpr std::int64_t cell = 1000; // ps
    const auto range = [&](std::int64_t first) {
        return TimeRange{SimTime(first * cell), SimTime((first + std::int64_t{width}) * cell)};
    };
    RowCells kept;
    kept.fill(model, range(700), width, layout.lines());
    CHECK(kept.made() == 3 * width);
    std::uint64_t state = kept.state();
    const auto check = [&](TimeRange now, std::size_t made) {
        const std::size_t before = kept.made();
        kept.fill(model, now, width, layout.lines());
        CHECK(kept.made() - before == made);
        RowCells fresh;
        fresh.fill(model, now, width, layout.lines());
        for (const Line& line : layout.lines())
            CHECK(std::ranges::equal(kept.of(line.track), fresh.of(line.track)));
        CHECK((kept.state() == state) == (made == 0));
        state = kept.state();
    };
    check(range(740), 3 * 40); // later: those that came into sight
    check(range(739), 3 * 1);
    check(range(739), 0);
    check(range(500), 3 * 239);    // earlier
    check(range(1100), 3 * width); // further than is in sight
    TimeRange other = range(1100);
    other.to += SimTime(width * cell); // another zoom
    check(other, 3 * width);
    other.from += SimTime(cell / 2); // a part of a cell
    other.to += SimTime(cell / 2);
    check(other, 3 * width);
}

TEST_CASE("making a timeline tells how far it is, and ends where it is cancelled")
{
    const std::vector outcomes{recorded_job()};
    std::vector<double> told;
    CancelFlag cancel;
    const WorkControl work{&cancel, [&](std::string_view, double done, double total) {
                               CHECK(done < total);
                               told.push_back(done);
                               if (told.size() == 3)
                                   cancel.cancel();
                           }};
    CHECK_THROWS_AS(TimelineModel(outcomes, work), Cancelled);
    CHECK(told == std::vector<double>{0, 1, 2});
}
