#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const OpRecord& record_of(const StepResult& result, std::size_t lane, StreamId stream,
                          std::size_t index = 0)
{
    for (const OpRecord& record : result.records)
        if (record.lane.value == lane && record.stream == stream && index-- == 0)
            return record;
    FAIL("no such record");
    return result.records[0];
}

} // namespace

TEST_CASE("alone, a transfer takes latency + work / ceiling: exactly T(S)")
{
    // Ring all-reduce of S bytes over n ranks: 2(n-1) steps of latency a, 2(n-1)/n S bytes at B.
    const std::int64_t n = 8;
    const std::int64_t a = 3'000'000;
    const std::uint64_t rate = 50'000'000'000; // 20 ps per byte
    const std::int64_t bytes = 1'000'000;
    TransferCost cost;
    cost.latency = SimTime(2 * (n - 1) * a);
    cost.ceiling = ByteRate(rate);
    cost.work = work_done(cost.ceiling, SimTime(2 * (n - 1) * bytes / n * 20));
    for (const Fidelity fidelity : {Fidelity::alpha_beta, Fidelity::bundle}) {
        Scene scene(8);
        const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2, 3, 4, 5, 6, 7});
        scene.group_of(dp).ring = {{scene.link(rate)}}; // wide enough
        for (std::size_t lane = 0; lane < 8; ++lane)
            scene.on(lane).collective(dp, cost);
        CHECK(scene.run(1, fidelity).step_time == SimTime(14 * a + 14 * bytes / 8 * 20));
    }
}

TEST_CASE("a collective moves data once its last member has arrived")
{
    Scene scene(3);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2});
    for (const std::size_t lane : {0U, 1U, 2U}) {
        scene.on(lane).compute(lane == 1 ? 100 : 30).record("ready");
        scene.on(lane).collective(dp, transfer(5, 40)).wait("ready");
    }
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(145));
    const OpRecord& record = record_of(result, 0, dp_stream);
    CHECK(record.start == SimTime(30));
    CHECK(record.transfer_start == SimTime(100));
    CHECK(record.last_arriver == LaneId{1});
    CHECK(time_in(result, 0, TimeKind::waiting) == 70);
    CHECK(time_in(result, 0, TimeKind::exposed_dp) == 45);
    CHECK(time_in(result, 1, TimeKind::waiting) == 0);
    CHECK(result.critical_lane == LaneId{1});
}

TEST_CASE("of several who come last, the lowest is named")
{
    Scene scene(3);
    const GroupSlot dp = scene.group(GroupKind::dp, {2, 0, 1});
    for (const std::size_t lane : {2U, 1U, 0U}) {
        scene.on(lane).compute(lane == 0 ? 10 : 50).record("ready");
        scene.on(lane).collective(dp, transfer(5, 40)).wait("ready");
    }
    CHECK(record_of(scene.run(), 0, dp_stream).last_arriver == LaneId{1});
}

TEST_CASE("a group of one completes alone")
{
    Scene scene(1);
    const GroupSlot dp = scene.group(GroupKind::dp, {0});
    scene.on(0).collective(dp, transfer(0, 0)).record("a");
    scene.on(0).compute(10).wait("a");
    CHECK(scene.run().step_time == SimTime(10));
}

TEST_CASE("collectives match in the order of issue, not of arrival")
{
    // Lane 1 reaches its second collective (stream tp) first; it meets lane 0's second.
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.on(0).collective(dp, transfer(0, 10)).collective(dp, transfer(0, 70), tp_stream);
    scene.on(1).compute(100).record("late");
    scene.on(1).collective(dp, transfer(0, 10)).wait("late");
    scene.on(1).collective(dp, transfer(0, 70), tp_stream);
    const StepResult result = scene.run();
    CHECK(record_of(result, 1, tp_stream).end == SimTime(70));
    CHECK(record_of(result, 1, dp_stream).end == SimTime(110));
}

TEST_CASE("a rendezvous message waits for both ends, an eager one for its sender only")
{
    for (const bool eager : {false, true}) {
        Scene scene(2);
        TransferCost cost = transfer(10, 20);
        cost.eager = eager;
        scene.on(0).exchange().send(1, cost);
        scene.on(1).compute(100).record("late");
        scene.on(1).exchange().receive(0, cost).wait("late");
        const StepResult result = scene.run();
        CHECK(record_of(result, 0, pp_stream).end == SimTime(eager ? 30 : 130));
        CHECK(record_of(result, 1, pp_stream).end == SimTime(eager ? 100 : 130));
        // The receiver found its message there: no transfer time of its own.
        CHECK(record_of(result, 1, pp_stream).transfer_start == SimTime(100));
    }
}

TEST_CASE("an eager message reaches a receiver who has been waiting")
{
    Scene scene(2);
    TransferCost cost = transfer(10, 20);
    cost.eager = true;
    scene.on(0).compute(50).record("made");
    scene.on(0).exchange().send(1, cost).wait("made");
    scene.on(1).exchange().receive(0, cost);
    CHECK(record_of(scene.run(), 1, pp_stream).end == SimTime(80));
}

TEST_CASE("a batch of sends and receives is complete when all are, and they overlap")
{
    // Neighbours swap messages of 40 and 70 in one batch: 70, not 110. One after the other they
    // would deadlock under rendezvous.
    Scene scene(2);
    scene.on(0).exchange().send(1, transfer(0, 40)).receive(1, transfer(0, 70));
    scene.on(1).exchange().send(0, transfer(0, 70)).receive(0, transfer(0, 40));
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(70));
    REQUIRE(result.transfers.size() == 1);
    CHECK(result.transfers[0].count == 2);
    CHECK(result.transfers[0].bytes == 110);
    CHECK(time_in(result, 0, TimeKind::exposed_pp) == 70);
}

TEST_CASE("messages of one pair match in order on each channel")
{
    Scene scene(2);
    scene.on(0).exchange().send(1, transfer(0, 10), 0).send(1, transfer(0, 20), 1);
    scene.on(0).exchange(tp_stream).send(1, transfer(0, 30), 0);
    scene.on(1).exchange().receive(0, transfer(0, 20), 1);
    scene.on(1).exchange().receive(0, transfer(0, 10), 0);
    scene.on(1).exchange().receive(0, transfer(0, 30), 0);
    const StepResult result = scene.run();
    CHECK(record_of(result, 1, pp_stream, 0).end == SimTime(20));
    CHECK(record_of(result, 1, pp_stream, 1).end == SimTime(30));
    CHECK(result.step_time == SimTime(60));
}

TEST_CASE("a slowed lane shifts those who depend on it and nobody else")
{
    // Two pairs; lane 1 slows down by a quarter.
    const auto ends = [](std::uint32_t scale) {
        Scene scene(4);
        const GroupSlot first = scene.group(GroupKind::dp, {0, 1});
        const GroupSlot second = scene.group(GroupKind::dp, {2, 3});
        for (std::size_t lane = 0; lane < 4; ++lane) {
            scene.on(lane).compute(400).scaled().record("ready");
            scene.on(lane).collective(lane < 2 ? first : second, transfer(0, 50)).wait("ready");
        }
        scene.binding.lanes[1].scales[0] = scale;
        return scene.run().lane_ends;
    };
    const SimTime even(450);
    CHECK(ends(full_share) == std::vector{even, even, even, even});
    const SimTime late(550);
    CHECK(ends(full_share / 4 * 5) == std::vector{late, late, even, even});
}

TEST_CASE("a transfer's work takes the largest scale of its members, its latency none")
{
    Scene scene(2);
    const GroupSlot ep = scene.group(GroupKind::ep, {0, 1});
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).collective(ep, transfer(10, 100)).scaled();
    scene.binding.lanes[1].scales[0] = full_share * 3 / 2;
    CHECK(scene.run().step_time == SimTime(160));
}

TEST_CASE("a transfer joins when the host has issued all its kernels")
{
    Scene scene(2);
    scene.binding.costs.host_per_kernel.fill(SimTime(10));
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.on(0).collective(dp, transfer(0, 5)).kernels(3);
    scene.on(1).collective(dp, transfer(0, 5));
    CHECK(scene.run().step_time == SimTime(35));
}
