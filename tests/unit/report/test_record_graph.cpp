#include "sim/study/recorded/record_graph.h"
#include "tests/catch.h"
#include "tests/support/grid_job.h"
#include "tests/support/scene.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// The k-th recorded op of a lane's stream.
RecordIndex record_of(const StepResult& result, std::uint32_t lane, StreamId stream,
                      std::size_t place = 0)
{
    for (std::size_t i = 0; i < result.records.size(); ++i)
        if (result.records[i].lane == LaneId{lane} && result.records[i].stream == stream &&
            place-- == 0)
            return static_cast<RecordIndex>(i);
    return no_record;
}

StepResult run_grid(const GridJob& job, int steps)
{
    RunControl control;
    control.steps = steps;
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    auto result = run_event(job.program, job.binding, control);
    REQUIRE(result.has_value());
    return std::move(*result);
}

} // namespace

TEST_CASE("an op names the op before it, the event or the host that let it start")
{
    Scene scene(1);
    scene.binding.costs.host_per_kernel.fill(SimTime(5));
    scene.on(0).compute(100).record("first"); // issued at 5, runs until 105
    scene.on(0).compute(10);                  // until 115: behind the first
    scene.on(0).copy(50).wait("first").record("copied").blocks_host(); // 105 - 155
    scene.on(0).compute(10).wait("copied");                            // issued at 160
    const StepResult result = scene.run();
    const RecordGraph graph(scene.program, scene.binding, result.records);

    const RecordIndex first = record_of(result, 0, compute_stream, 0);
    const RecordIndex second = record_of(result, 0, compute_stream, 1);
    const RecordIndex third = record_of(result, 0, compute_stream, 2);
    const RecordIndex copy = record_of(result, 0, copy_stream);
    CHECK(graph.why_started(first) == StartReason{StartCause::host, no_record});
    CHECK(graph.why_started(second) == StartReason{StartCause::stream, first});
    CHECK(graph.why_started(copy) == StartReason{StartCause::event, first});
    // Copied at 155; the host, which had waited for that, needs 5 more.
    REQUIRE(result.records[third].start == SimTime(160));
    CHECK(graph.why_started(third) == StartReason{StartCause::host, copy});
    CHECK(graph.started_by(first) == std::vector{second, copy});
    CHECK(graph.started_by(copy) == std::vector{third});
}

TEST_CASE("members of a collective are peers, and the last to come is named")
{
    Scene scene(3);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2});
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
        scene.on(lane).compute(lane == 1 ? 70 : 30).record("ready");
        scene.on(lane).collective(dp, transfer(5, 20)).wait("ready");
    }
    const StepResult result = scene.run();
    const RecordGraph graph(scene.program, scene.binding, result.records);

    const RecordIndex sum = record_of(result, 0, dp_stream);
    const RecordIndex late = record_of(result, 1, dp_stream);
    CHECK(graph.peers(sum) == std::vector{late, record_of(result, 2, dp_stream)});
    CHECK(graph.last_to_come(sum) == late);
    CHECK(graph.last_to_come(late) == no_record);
}

TEST_CASE("the two ends of a message know each other, in the order of their channel")
{
    Scene scene(2);
    scene.on(0).compute(40).record("ready");
    scene.on(0).exchange().send(1, transfer(0, 10)).wait("ready");
    scene.on(0).exchange().send(1, transfer(0, 10));
    scene.on(1).exchange().receive(0, transfer(0, 10));
    scene.on(1).exchange().receive(0, transfer(0, 10));
    for (Lane& lane : scene.binding.lanes)
        REQUIRE(lane.peers.size() == 2);
    // Both ends name the same cost.
    scene.program.blocks[1].parts[0].cost = scene.program.blocks[0].parts[0].cost;
    scene.program.blocks[1].parts[1].cost = scene.program.blocks[0].parts[1].cost;
    const StepResult result = scene.run();
    const RecordGraph graph(scene.program, scene.binding, result.records);
    const RecordIndex send = record_of(result, 0, pp_stream, 1);
    const RecordIndex receive = record_of(result, 1, pp_stream, 1);
    using Partner = RecordGraph::Partner;
    CHECK(graph.partners(send) == std::vector{Partner{receive, Direction::send}});
    CHECK(graph.partners(receive) == std::vector{Partner{send, Direction::receive}});
    CHECK(graph.last_to_come(record_of(result, 1, pp_stream, 0)) ==
          record_of(result, 0, pp_stream, 0));
}

TEST_CASE("the critical path goes from the late member back through what made it late")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.on(0).compute(30).record("ready");
    scene.on(0).collective(dp, transfer(5, 20)).wait("ready").record("summed");
    scene.on(0).compute(7).wait("summed");
    scene.on(1).compute(70).record("ready");
    scene.on(1).collective(dp, transfer(5, 20)).wait("ready").record("summed");
    scene.on(1).compute(3).wait("summed");
    const StepResult result = scene.run();
    const RecordGraph graph(scene.program, scene.binding, result.records);
    // Lane 1 computes until 70, data moves until 95, lane 0 updates until 102.
    const std::vector<PathPiece> path{
        {record_of(result, 1, compute_stream), SimTime(0), SimTime(70), PathPart::runs},
        {record_of(result, 0, dp_stream), SimTime(70), SimTime(95), PathPart::runs},
        {record_of(result, 0, compute_stream, 1), SimTime(95), SimTime(102), PathPart::runs}};
    CHECK(graph.critical_path() == path);
}

TEST_CASE("the critical path of a pipeline covers the run without gaps")
{
    GridShape shape;
    shape.pp = 4;
    shape.uneven = true;
    const GridJob job = grid_job(shape);
    const StepResult result = run_grid(job, 2);
    const RecordGraph graph(job.program, job.binding, result.records);
    const auto path = graph.critical_path();
    REQUIRE(path.size() > 100);
    CHECK(path.back().to == result.step_ends.back());
    for (std::size_t i = 1; i < path.size(); ++i)
        REQUIRE(path[i].from == path[i - 1].to);
    // The host issues the first kernel in 4 us.
    CHECK(path.front().from == SimTime(4'000'000));
    CHECK(std::none_of(path.begin(), path.end(),
                       [](const PathPiece& piece) { return piece.part == PathPart::waits; }));
}

TEST_CASE("every start has a reason that ends then")
{
    GridShape shape;
    shape.uneven = true;
    const GridJob job = grid_job(shape);
    const StepResult result = run_grid(job, 2);
    const RecordGraph graph(job.program, job.binding, result.records);
    for (RecordIndex i = 0; i < result.records.size(); ++i) {
        const OpRecord& record = result.records[i];
        const StartReason reason = graph.why_started(i);
        if (reason.cause == StartCause::host)
            REQUIRE(record.start == record.issued);
        else
            REQUIRE(result.records[reason.record].end == record.start);
    }
}

TEST_CASE("queues put records in line by lane, stream and step")
{
    Scene scene(2);
    scene.on(0).compute(10).compute(20).copy(5);
    scene.on(1).compute(10);
    const StepResult result = scene.run(2);
    const RecordQueues all = queues_of(result.records);
    REQUIRE(all.queues.size() == 6);
    CHECK(all.records.size() == 8);
    for (const RecordQueue& queue : all.queues)
        for (const std::uint32_t index : all.of(queue)) {
            CHECK(result.records[index].lane == queue.lane);
            CHECK(result.records[index].stream == queue.stream);
            CHECK(result.records[index].step == queue.step);
        }
    CHECK(std::is_sorted(all.queues.begin(), all.queues.end(), [](const auto& a, const auto& b) {
        return std::tie(a.lane, a.stream, a.step) < std::tie(b.lane, b.stream, b.step);
    }));
    CHECK(queues_of({}).queues.empty());
}
