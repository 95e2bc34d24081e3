#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Scene with_host_time(std::int64_t per_kernel, std::size_t lanes = 1)
{
    Scene scene(lanes);
    scene.binding.costs.host_per_kernel.fill(SimTime(per_kernel));
    return scene;
}

} // namespace

TEST_CASE("a phase takes max(device, host)")
{
    // 10 ops of 4 kernels. The last kernel is issued at 40 h and runs d / 4.
    const auto phase = [](std::int64_t device, std::int64_t host) {
        Scene scene = with_host_time(host);
        for (int i = 0; i < 10; ++i)
            scene.on(0).compute(device).kernels(4);
        return scene.run().step_time.value();
    };
    CHECK(phase(400, 10) == 10 + 10 * 400); // device bound: behind the first issue back to back
    CHECK(phase(40, 100) == 40 * 100 + 10); // host bound
}

TEST_CASE("an op waits for its first kernel and not for its last")
{
    Scene scene = with_host_time(10);
    scene.on(0).compute(1000).kernels(5);
    const StepResult result = scene.run();
    CHECK(result.records[0].start == SimTime(10));
    CHECK(result.records[0].end == SimTime(1010));
}

TEST_CASE("time in which the device lacks kernels counts as host time")
{
    // Issue takes 10 per kernel: the first op runs 10..51 (its last kernel is issued at 50 and
    // takes 1) with 5 of device work, the second is issued at 60.
    Scene scene = with_host_time(10);
    scene.on(0).compute(5).kernels(5).compute(100);
    const StepResult result = scene.run();
    CHECK(result.records[0].end == SimTime(51));
    CHECK(result.records[1].start == SimTime(60));
    CHECK(time_in(result, 0, TimeKind::forward) == 105);
    CHECK(time_in(result, 0, TimeKind::host) == 160 - 105);
    CHECK(result.lanes[0].compute_busy == SimTime(105));
}

TEST_CASE("a host op holds up the issue of what follows, not what runs")
{
    Scene scene = with_host_time(1);
    scene.on(0).compute(100).host(40).compute(10);
    const StepResult result = scene.run();
    // Issue at 1; the host op runs 1..41; the second op is issued at 42 and waits for the first.
    CHECK(result.records[0].kind == OpKind::host);
    CHECK(result.records[0].end == SimTime(41));
    CHECK(result.step_time == SimTime(111));
}

TEST_CASE("the host may wait for the device")
{
    Scene scene = with_host_time(1);
    scene.on(0).compute(100).record("loss");
    scene.on(0).host(5).wait("loss");
    scene.on(0).compute(10);
    // 1 + 100, then 5 of host, 1 of issue, 10.
    CHECK(scene.run().step_time == SimTime(117));
}

TEST_CASE("an op that blocks the host delays the next issue to its end")
{
    Scene scene = with_host_time(7);
    scene.on(0).compute(100).blocks_host().compute(10);
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(7 + 100 + 7 + 10));
    CHECK(time_in(result, 0, TimeKind::host) == 14);
    CHECK(result.records[1].issued == SimTime(114));
}

TEST_CASE("host time differs by phase")
{
    Scene scene = with_host_time(10);
    scene.binding.costs.host_per_kernel[static_cast<std::size_t>(Phase::backward)] = SimTime(3);
    scene.on(0).compute(1).kernels(4);
    scene.on(0).compute(1).phase(Phase::backward).kernels(4);
    // 40 + 12, and the mean kernel rounds down to 0.
    CHECK(scene.run().step_time == SimTime(52));
}

TEST_CASE("the host runs ahead across steps unless something stops it")
{
    // Host time 30 per step, device 100: only the first issue shows.
    Scene scene = with_host_time(10);
    scene.on(0).compute(50).compute(25).compute(25);
    const StepResult result = scene.run(3);
    CHECK(result.step_ends == std::vector{SimTime(110), SimTime(210), SimTime(310)});
    CHECK(time_in(result, 0, TimeKind::host) == 0);

    // With the host bound the step takes 3 x 40.
    Scene slow = with_host_time(40);
    slow.on(0).compute(50).compute(25).compute(25);
    CHECK(slow.run(3).step_time == SimTime(120));
}

TEST_CASE("waiting for input data counts as data")
{
    Scene scene(1);
    scene.on(0).host(500).label({"loader", Phase::data}).compute(100);
    const StepResult result = scene.run(2);
    CHECK(result.step_time == SimTime(500)); // the next batch loads while the device computes
    CHECK(time_in(result, 0, TimeKind::data) == 400);
    CHECK(time_in(result, 0, TimeKind::forward) == 100);
}

TEST_CASE("an op without kernels costs the host nothing")
{
    Scene scene = with_host_time(1000);
    scene.on(0).compute(10).kernels(0);
    CHECK(scene.run().step_time == SimTime(10));
}
