#include "sim/engine/slowdown.h"
#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

TransferCost loud(TransferCost cost, std::uint32_t sm_share, std::uint32_t traffic_share)
{
    cost.sm_share = sm_share;
    cost.traffic_share = traffic_share;
    return cost;
}

} // namespace

TEST_CASE("resident kernels take SMs, moving data takes more, never all")
{
    CHECK(engine::compute_share(0, 0) == full_share);
    CHECK(engine::compute_share(full_share / 4, full_share / 4) == full_share / 2);
    CHECK(engine::compute_share(full_share, full_share) == full_share / 20);
    const TransferCost cost = loud(transfer(0, 10, 1000), 0, full_share / 2);
    CHECK(engine::traffic_of(cost, ByteRate(1000)) == full_share / 2);
    CHECK(engine::traffic_of(cost, ByteRate(500)) == full_share / 4);
    CHECK(engine::traffic_of(TransferCost{}, ByteRate(0)) == 0);
}

TEST_CASE("compute beside a collective is stretched by what the collective takes")
{
    // Latency 0..100: a quarter of the SMs gone. Moving 100..500: a quarter more. Work 400:
    // 100 x 3/4 = 75, then 325 at 1/2 would take 650 but the collective ends at 500 (200 done);
    // 125 remain at full speed.
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).collective(dp, loud(transfer(100, 400), full_share / 4, full_share / 4));
        scene.on(lane).compute(400);
    }
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(625));
    CHECK(time_in(result, 0, TimeKind::forward) == 400);
    CHECK(time_in(result, 0, TimeKind::slowdown) == 225);
    CHECK(result.lanes[0].compute_busy == SimTime(625));
    CHECK(result.lanes[0].communication_busy == SimTime(500));
}

TEST_CASE("a kernel that waits for others costs SMs only")
{
    // Lane 0 waits 0..200 (7/8 left), both move 200..300 (7/8 - 1/8).
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    const TransferCost cost = loud(transfer(0, 100), full_share / 8, full_share / 8);
    scene.on(0).collective(dp, cost);
    scene.on(0).compute(350);
    scene.on(1).compute(200).record("late");
    scene.on(1).collective(dp, cost).wait("late");
    // 175 by 200, 75 by 300, the other 100 alone.
    CHECK(scene.run().lane_ends[0] == SimTime(400));
}

TEST_CASE("a slow link costs compute little: the loss goes with the rate")
{
    // The link grants a quarter of the ceiling: 400 instead of 100, at 1/2 x 1/4 = 1/8 lost.
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.group_of(dp).ring = {{scene.link(250)}};
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).collective(dp, loud(transfer(0, 100, 1000), 0, full_share / 2));
        scene.on(lane).compute(350);
    }
    CHECK(scene.run(1, Fidelity::bundle).lane_ends[0] == SimTime(400));
}

TEST_CASE("a message costs its sender traffic and its receiver SMs")
{
    Scene scene(2);
    const TransferCost cost = loud(transfer(0, 1000), full_share / 4, full_share / 4);
    scene.on(0).exchange().send(1, cost);
    scene.on(1).exchange().receive(0, cost);
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).compute(300);
    const StepResult result = scene.run();
    for (const OpRecord& record : result.records)
        if (record.kind == OpKind::compute)
            CHECK(record.end == SimTime(record.lane.value == 0 ? 600 : 400));
}

TEST_CASE("what does not run on a communication stream, or does not compute, is left alone")
{
    Scene scene(2);
    const GroupSlot tp = scene.group(GroupKind::tp, {0, 1});
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).collective(tp, loud(transfer(0, 500), full_share / 2, 0), compute_stream);
        scene.on(lane).compute(300, second_compute_stream);
        scene.on(lane).copy(300);
    }
    const StepResult result = scene.run();
    for (const OpRecord& record : result.records)
        if (record.kind != OpKind::collective)
            CHECK(record.end == SimTime(300));
}

TEST_CASE("host time and interference do not add up: the op ends when both allow it")
{
    // Device: 100 at 1/2 = 200. Host: 10 kernels issued by 30 each -> 300 + 10.
    Scene scene(1);
    scene.binding.costs.host_per_kernel[static_cast<std::size_t>(Phase::forward)] = SimTime(30);
    const GroupSlot dp = scene.group(GroupKind::dp, {0});
    scene.on(0).collective(dp, loud(transfer(0, 1000), full_share / 2, 0));
    scene.on(0).compute(100).kernels(10);
    const StepResult result = scene.run();
    for (const OpRecord& record : result.records)
        if (record.kind == OpKind::compute) {
            CHECK(record.start == SimTime(30));
            CHECK(record.end == SimTime(310));
        }
    CHECK(time_in(result, 0, TimeKind::slowdown) == 100);
    CHECK(time_in(result, 0, TimeKind::forward) == 100);
    CHECK(time_in(result, 0, TimeKind::host) == 30 + 80);
}
