#include "sim/report/timeline/lane_time.h"
#include "tests/catch.h"
#include "tests/support/grid_job.h"
#include "tests/support/scene.h"

#include <algorithm>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Times = std::array<std::int64_t, time_kind_count>;

// Of a lane, between two times.
Times sums(const std::vector<TimePiece>& pieces, SimTime from, SimTime to)
{
    Times sums{};
    for (const TimePiece& piece : pieces)
        if (const SimTime length = std::min(piece.to, to) - std::max(piece.from, from);
            length > SimTime(0))
            sums[static_cast<std::size_t>(piece.kind)] += length.value();
    return sums;
}

SimTime end_of_step(const StepResult& result, std::size_t lane, int step)
{
    SimTime end;
    for (const OpRecord& record : result.records)
        if (record.lane.value == lane && record.step == step)
            end = std::max(end, record.end);
    return end;
}

// The engine's own accounts of the last step.
Times accounts(const StepResult& result, std::size_t lane)
{
    Times times{};
    for (std::size_t k = 0; k < time_kind_count; ++k)
        times[k] = result.lanes[lane].time[k].value();
    return times;
}

// What it computes, slowdown included.
std::int64_t compute_of(const Times& times)
{
    return std::accumulate(times.begin(), times.begin() + 6, std::int64_t{0});
}

// Pieces of the last of `steps` steps against the accounts.
void check_lanes(const Program& program, const Binding& binding, const StepResult& result,
                 int steps)
{
    const RecordGraph graph(program, binding, result.records);
    for (std::size_t lane = 0; lane < binding.lanes.size(); ++lane) {
        const SimTime from = end_of_step(result, lane, steps - 2);
        const SimTime to = end_of_step(result, lane, steps - 1);
        const auto pieces = time_pieces(graph, make_id<LaneId>(lane));
        Times found = sums(pieces, from, to);
        // A lane whose step was shorter idles for the rest, a longer one has less bubble.
        found[static_cast<std::size_t>(TimeKind::bubble)] +=
            (result.step_time - (to - from)).value();
        const Times known = accounts(result, lane);
        INFO("lane " << lane);
        CHECK(compute_of(found) == compute_of(known));
        for (std::size_t k = 6; k < time_kind_count; ++k)
            CHECK(found[k] == known[k]);
        for (std::size_t i = 1; i < pieces.size(); ++i) {
            REQUIRE(pieces[i].from == pieces[i - 1].to);
            REQUIRE(pieces[i].kind != pieces[i - 1].kind);
        }
    }
}

} // namespace

TEST_CASE("idle time has the reason that the engine gives it, op by op")
{
    Scene scene(2);
    scene.binding.costs.host_per_kernel.fill(SimTime(5));
    const GroupSlot tp = scene.group(GroupKind::tp, {0, 1});
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
        scene.on(lane).compute(lane == 0 ? 20 : 50).record("a");
        scene.on(lane).collective(tp, transfer(5, 20), tp_stream).wait("a").record("b");
        scene.on(lane).compute(30).wait("b");
    }
    const StepResult result = scene.run();
    const RecordGraph graph(scene.program, scene.binding, result.records);
    // Lane 0 computes from 5 to 25, waits for lane 1 until 55, data moves until 80.
    const auto pieces = time_pieces(graph, LaneId{0});
    const std::vector<std::tuple<int, int, TimeKind>> expected{{5, 25, TimeKind::forward},
                                                               {25, 55, TimeKind::waiting},
                                                               {55, 80, TimeKind::exposed_tp},
                                                               {80, 110, TimeKind::forward}};
    REQUIRE(pieces.size() == expected.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto& [from, to, kind] = expected[i];
        CHECK(pieces[i].from == SimTime(from));
        CHECK(pieces[i].to == SimTime(to));
        CHECK(pieces[i].kind == kind);
    }
    CHECK(result.records[pieces[1].record].stream == tp_stream);
}

TEST_CASE("pieces of a pipelined job add up to the engine's accounts of every lane")
{
    for (const std::uint32_t stages : {1U, 2U, 4U}) {
        GridShape shape;
        shape.pp = stages;
        shape.sm_share = full_share / 10; // compute is slowed, too
        const GridJob job = grid_job(shape);
        RunControl control;
        control.steps = 3;
        control.record = RecordRequest{[](LaneId) { return true; }, 0};
        const auto result = run_reference(job.program, job.binding, control);
        REQUIRE(result.has_value());
        check_lanes(job.program, job.binding, *result, control.steps);
    }
}

TEST_CASE("what a barrier of the host holds up is the host's")
{
    Scene scene(1);
    scene.binding.costs.host_per_kernel.fill(SimTime(2));
    scene.on(0).host(40);
    scene.on(0).compute(10).record("a");
    scene.on(0).copy(25).wait("a").record("b").blocks_host();
    scene.on(0).compute(10).wait("b");
    scene.on(0).host(15);
    RunControl control;
    control.steps = 3;
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    const auto result = scene.try_run(control);
    REQUIRE(result.has_value());
    check_lanes(scene.program, scene.binding, *result, control.steps);
}
