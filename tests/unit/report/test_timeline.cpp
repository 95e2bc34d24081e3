#include "sim/base/random.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/timeline/timeline.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Slice slice(std::int64_t start, std::int64_t end, SliceKind kind = SliceKind::forward,
            std::uint16_t micro_batch = 0)
{
    return {SimTime(start), SimTime(end), SimTime(end - start), kind, micro_batch, "op", 1};
}

} // namespace

TEST_CASE("slices of one kind and micro-batch with small gaps become one that knows its busy time")
{
    const auto out = merged({slice(0, 100), slice(105, 200), slice(230, 300)}, SimTime(10));
    REQUIRE(out.size() == 2);
    CHECK(out[0].start == SimTime(0));
    CHECK(out[0].end == SimTime(200));
    CHECK(out[0].busy == SimTime(195));
    CHECK(out[0].ops == 2);
    CHECK(out[1].ops == 1);
}

TEST_CASE("another micro-batch or another kind starts a new slice")
{
    CHECK(merged({slice(0, 100), slice(100, 200, SliceKind::forward, 1)}, SimTime(10)).size() == 2);
    CHECK(merged({slice(0, 100), slice(100, 200, SliceKind::backward)}, SimTime(10)).size() == 2);
}

TEST_CASE("merging keeps order, busy time and the number of ops, and bounds the slices")
{
    Random random(7);
    std::vector<Slice> slices;
    SimTime busy;
    std::int64_t at = 0;
    for (int i = 0; i < 5000; ++i) {
        const std::int64_t start = at + random.integer(0, 20);
        at = start + random.integer(1, 40);
        slices.push_back(slice(start, at, random.integer(0, 1) == 0 ? SliceKind::tp : SliceKind::dp,
                               static_cast<std::uint16_t>(random.integer(0, 3))));
        busy += SimTime(at - start);
    }
    const SimTime resolution(500);
    const auto out = merged(slices, resolution);
    SimTime busy_after;
    std::size_t ops = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        busy_after += out[i].busy;
        ops += out[i].ops;
        CHECK(out[i].busy <= out[i].end - out[i].start);
        if (i > 0)
            CHECK(out[i - 1].end <= out[i].start);
    }
    CHECK(busy_after == busy);
    CHECK(ops == slices.size());
    CHECK(out.size() <= static_cast<std::size_t>(at / resolution.value()) + 2);
}

TEST_CASE("a timeline shows each recorded lane's streams, waiting apart from moving data")
{
    const Timeline timeline = make_timeline(recorded_outcome());
    REQUIRE(timeline.lanes.size() == 4);
    CHECK(timeline.end - timeline.start == SimTime(100'000'000'000));
    CHECK_THAT(timeline.lanes[0].name, StartsWith("stage 0"));
    const auto& rows = timeline.lanes[0].rows;
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].name == "compute");
    CHECK(rows[0].slices.size() == 5); // two forwards, two backwards, the update
    CHECK(rows[0].slices[1].micro_batch == 1);
    // Two sends; two receives that first wait.
    std::size_t waits = 0;
    for (const Slice& slice : rows[2].slices)
        waits += slice.kind == SliceKind::waiting ? 1 : 0;
    CHECK(waits == 2);
}

TEST_CASE("a timeline is empty without records and coarser when slices are too many")
{
    CHECK(make_timeline(small_outcome()).lanes.empty());
    const Outcome outcome = recorded_outcome();
    TimelineOptions options;
    options.max_slices = 20;
    CHECK(make_timeline(outcome, options).slice_count() <= 20);
    options.max_lanes = 2;
    CHECK(make_timeline(outcome, options).lanes.size() == 2);
    options.max_slices = 1; // less than one per row: stops at the coarsest
    CHECK(make_timeline(outcome, options).slice_count() >= 6);
}

TEST_CASE("the picture of a timeline stands alone and numbers its micro-batches")
{
    const std::string svg = timeline_svg(recorded_outcome());
    CHECK_THAT(svg, StartsWith("<svg xmlns="));
    CHECK_THAT(svg, ContainsSubstring("prefers-color-scheme:dark"));
    CHECK_THAT(svg, ContainsSubstring("class=\"on-colour\">1</text>"));
    CHECK_THAT(svg,
               ContainsSubstring("<title>backward: layers, micro-batch 0, 20.0 ms from 42.0 ms"));
    CHECK_THAT(timeline_svg(small_outcome()), EndsWith("</svg>\n"));
}
