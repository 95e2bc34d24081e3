#include "sim/base/random.h"
#include "sim/program/builder.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/timeline/timeline.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Slice slice(std::int64_t start, std::int64_t end, TimeKind kind = TimeKind::forward,
            std::uint16_t micro_batch = 0)
{
    return {SimTime(start), SimTime(end), SimTime(end - start), kind, micro_batch, "op", 1};
}

} // namespace

TEST_CASE("slices of one kind and micro-batch with small gaps become one that knows its busy time")
{
    const auto out = merged({slice(0, 100), slice(105, 200), slice(250, 300)}, SimTime(10));
    REQUIRE(out.size() == 2);
    CHECK(out[0].start == SimTime(0));
    CHECK(out[0].end == SimTime(200));
    CHECK(out[0].busy == SimTime(195));
    CHECK(out[0].ops == 2);
    CHECK(out[1].ops == 1);
}

TEST_CASE("another micro-batch or another kind starts a new slice")
{
    CHECK(merged({slice(0, 100), slice(100, 200, TimeKind::forward, 1)}, SimTime(10)).size() == 2);
    CHECK(merged({slice(0, 100), slice(100, 200, TimeKind::backward)}, SimTime(10)).size() == 2);
}

TEST_CASE("a backward pass with short pieces of recomputation is shown as one backward")
{
    std::vector<Slice> layers;
    for (std::int64_t i = 0; i < 10; ++i) {
        layers.push_back(slice(30 * i, 30 * i + 10, TimeKind::recompute));
        layers.push_back(slice(30 * i + 10, 30 * i + 30, TimeKind::backward));
    }
    const auto out = merged(layers, SimTime(10));
    REQUIRE(out.size() == 1);
    CHECK(out[0].kind == TimeKind::backward);
    CHECK(out[0].ops == 20);
    // Finer, the pieces are seen.
    CHECK(merged(layers, SimTime(1)).size() == 20);
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
        slices.push_back(slice(
            start, at, random.integer(0, 1) == 0 ? TimeKind::exposed_tp : TimeKind::exposed_dp,
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
    // Two sends and two receives, which wait for nobody in a picture.
    CHECK(rows[2].slices.size() == 4);
    for (const Slice& slice : rows[2].slices)
        CHECK(slice.kind == TimeKind::exposed_pp);
}

TEST_CASE("a collective whose members have not all arrived is shown as waiting first")
{
    Outcome outcome = recorded_outcome();
    StepResult result = *outcome.result;
    for (OpRecord& record : result.records)
        if (record.kind == OpKind::collective)
            record.start -= SimTime(1'000'000'000);
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const Timeline timeline = make_timeline(outcome);
    const auto& slices = timeline.lanes[0].rows[1].slices;
    REQUIRE(slices.size() == 2);
    CHECK(slices[0].kind == TimeKind::waiting);
    CHECK(slices[1].kind == TimeKind::exposed_dp);
    CHECK(slices[0].end == slices[1].start);
    // Among stages of a pipeline who comes late is further on, and the wait a bubble.
    Binding binding = *outcome.binding;
    for (Group& group : binding.groups)
        if (group.members.size() > 1) {
            group.kind = GroupKind::embedding;
            group.members = {LaneId{0}, LaneId{2}};
        }
    REQUIRE(binding.lanes[0].role != binding.lanes[2].role);
    outcome.binding = std::make_shared<const Binding>(std::move(binding));
    CHECK(make_timeline(outcome).lanes[0].rows[1].slices[0].kind == TimeKind::bubble);
}

TEST_CASE("sends and receives of several streams share one row without overlap")
{
    Outcome outcome = recorded_outcome();
    Plan plan = *outcome.plan;
    const StreamId other = add_stream(plan.program, {"second", StreamKind::communication});
    StepResult result = *outcome.result;
    for (OpRecord& record : result.records)
        if (record.kind == OpKind::exchange && record.micro_batch == 1)
            record.stream = other;
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const Timeline timeline = make_timeline(outcome);
    const auto& rows = timeline.lanes[0].rows;
    REQUIRE(rows.size() == 3);
    CHECK(rows[2].name == "pp");
    CHECK(rows[2].slices.size() == 4);
    for (std::size_t i = 1; i < rows[2].slices.size(); ++i)
        CHECK(rows[2].slices[i - 1].end <= rows[2].slices[i].start);
}

TEST_CASE("what the host loads between steps is part of the step's picture")
{
    // One GPU whose host reads for 60 ms and then issues 30 ms of compute.
    Outcome outcome = single_gpu_outcome();
    Plan plan = *outcome.plan;
    const LabelId load = label_id(plan.program, {"load batch", Phase::data});
    StepResult result = *outcome.result;
    OpRecord device;
    device.lane = LaneId{0};
    device.stream = StreamId{1};
    device.label = label_id(plan.program, {"layers", Phase::forward});
    device.start = SimTime(60'000'000'000);
    device.end = SimTime(90'000'000'000);
    OpRecord host = device;
    host.stream = host_stream;
    host.kind = OpKind::host;
    host.label = load;
    host.start = SimTime(0);
    host.end = device.start;
    result.records = {host, device};
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const Timeline timeline = make_timeline(outcome);
    CHECK(timeline.end - timeline.start == SimTime(90'000'000'000));
    REQUIRE(timeline.lanes.size() == 1);
    CHECK(timeline.lanes[0].name == "rank 0");
    const auto& rows = timeline.lanes[0].rows;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].kind == StreamKind::compute);
    REQUIRE(rows[1].slices.size() == 1);
    CHECK(rows[1].slices[0].kind == TimeKind::data);
    CHECK(rows[1].slices[0].busy == SimTime(60'000'000'000));
}

TEST_CASE("a window shows its part of the step and nothing else")
{
    TimelineOptions options;
    options.window = TimelineWindow{SimTime(5'000'000'000), SimTime(20'000'000'000)};
    const Timeline timeline = make_timeline(recorded_outcome(), options);
    CHECK(timeline.end - timeline.start == SimTime(20'000'000'000));
    const auto& slices = timeline.lanes[0].rows[0].slices; // the rest of F0, and F1
    REQUIRE(slices.size() == 2);
    CHECK(slices[0].busy == SimTime(5'000'000'000));
    CHECK(slices[1].busy == SimTime(10'000'000'000));
}

TEST_CASE("a step of few passes needs no window, a longer one gets room for as many as asked")
{
    const Timeline whole = make_timeline(recorded_outcome()); // four passes in 100 ms
    CHECK_FALSE(window_of_passes(whole, 4).has_value());
    CHECK(window_of_passes(whole, 2)->length == SimTime(50'000'000'000));
    // Passes beside each other are merged in the picture; 16 in the step make 4 a quarter of it.
    CHECK(window_of_passes(whole, 4, 16)->length == SimTime(25'000'000'000));
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
