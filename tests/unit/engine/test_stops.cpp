// Ranks that hang or die: what still goes on, and who waits for whom in the end.

#include "sim/engine/standstill.h"
#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::optional<Standstill> standstill_of(Scene& scene, Fidelity fidelity = Fidelity::alpha_beta)
{
    scene.bind_roles();
    RunControl control;
    control.steps = 1;
    control.fidelity = fidelity;
    auto result = find_standstill(scene.program, scene.binding, control);
    INFO((result ? std::string() : render(result.error(), "")));
    REQUIRE(result.has_value());
    return std::move(*result);
}

void stop(Scene& scene, std::size_t lane, StopKind kind, std::int64_t at)
{
    scene.binding.lanes[lane].stop = {SimTime(at), kind};
}

std::vector<LaneId> lanes_of(const std::vector<Waiter>& waiters)
{
    std::vector<LaneId> lanes;
    for (const Waiter& waiter : waiters)
        lanes.push_back(waiter.lane);
    return lanes;
}

} // namespace

TEST_CASE("a rank that hangs issues nothing more and what it has issued goes on")
{
    Scene scene(2);
    scene.binding.costs.host_per_kernel.fill(SimTime(10));
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).compute(100);                               // issued at 10
        scene.on(lane).collective(dp, transfer(0, 10), tp_stream); // at 20
        scene.on(lane).collective(dp, transfer(0, 10), tp_stream); // at 30
    }
    stop(scene, 1, StopKind::hangs, 30);
    const auto result = standstill_of(scene);
    REQUIRE(result);
    REQUIRE(result->culprits.size() == 1);
    CHECK(result->culprits[0].lane == LaneId{1});
    CHECK(result->culprits[0].place.stream == tp_stream);
    REQUIRE(result->waits.size() == 1);
    const Wait& wait = result->waits[0];
    CHECK(wait.sequence == 1); // the first one, issued before, has ended
    CHECK(lanes_of(wait.here) == std::vector{LaneId{0}});
    CHECK(wait.missing == std::vector{LaneId{1}});
    CHECK(wait.distance == 1);
    CHECK(wait.here[0].issued == SimTime(30));
    // Both ranks are there at 20, the first collective takes 10: the second is resident from 30 on.
    CHECK(wait.here[0].arrived == SimTime(30));
}

TEST_CASE("an op whose last kernels are not issued before the host hangs never ends")
{
    Scene scene(1);
    scene.binding.costs.host_per_kernel.fill(SimTime(10));
    scene.on(0).compute(50).kernels(3); // issued at 10, 20 and 30
    stop(scene, 0, StopKind::hangs, 31);
    CHECK_FALSE(standstill_of(scene));
    stop(scene, 0, StopKind::hangs, 30);
    const auto result = standstill_of(scene);
    REQUIRE(result);
    CHECK(result->culprits[0].place.kind == OpKind::compute);
    CHECK(result->waits.empty());
}

TEST_CASE("nor does one that could be slowed and whose device work is done")
{
    Scene scene(1);
    scene.binding.costs.host_per_kernel.fill(SimTime(10));
    scene.on(0).compute(50).kernels(3);
    scene.binding.lanes[0].windows = {{SimTime(200), SimTime(300), full_share / 2}};
    stop(scene, 0, StopKind::hangs, 31);
    CHECK_FALSE(standstill_of(scene));
    stop(scene, 0, StopKind::hangs, 30);
    CHECK(standstill_of(scene));
}

TEST_CASE("a host that hangs has issued no more than the queues of its streams hold")
{
    // The host issues all at once. It hangs while op 2 runs; behind that the queue holds three.
    Scene scene(1);
    scene.binding.costs.launch_queue = 3;
    for (int i = 0; i < 10; ++i)
        scene.on(0).compute(100).label({"op " + std::to_string(i), Phase::forward});
    const auto first_missing = [&] {
        const auto result = standstill_of(scene);
        REQUIRE(result);
        return scene.program.labels[result->culprits[0].place.label.value].name;
    };
    stop(scene, 0, StopKind::hangs, 250);
    CHECK(first_missing() == "op 6");
    stop(scene, 0, StopKind::hangs, 300); // op 2 has ended, op 3 not begun
    CHECK(first_missing() == "op 6");
    stop(scene, 0, StopKind::hangs, 301);
    CHECK(first_missing() == "op 7");
    stop(scene, 0, StopKind::hangs, 650);
    CHECK_FALSE(standstill_of(scene)); // all that is left is in the queue
    scene.binding.costs.launch_queue = endless_queue;
    stop(scene, 0, StopKind::hangs, 1);
    CHECK_FALSE(standstill_of(scene));
}

TEST_CASE("the first queue to be full has held up the host of a rank that hangs, for all streams")
{
    // In issue order: two ops of the first stream, one of the second, and so on. Behind the ops
    // that run, op 4 of the first stream is the first that does not fit; what the second stream is
    // due to do after it is not issued either, though there is room.
    Scene scene(1);
    scene.binding.costs.launch_queue = 3;
    for (int i = 0; i < 4; ++i) {
        scene.on(0).compute(100).label({"a", Phase::forward});
        scene.on(0).compute(100).label({"b", Phase::forward});
        scene.on(0).compute(10, second_compute_stream).label({"c", Phase::forward});
    }
    stop(scene, 0, StopKind::hangs, 5);
    scene.bind_roles();
    RunControl control;
    control.steps = 1;
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    const auto reference = run_reference(scene.program, scene.binding, control);
    const auto event = run_event(scene.program, scene.binding, control);
    REQUIRE(!reference);
    REQUIRE(!event);
    CHECK(render(reference.error(), "") == render(event.error(), ""));
    const auto result = standstill_of(scene);
    REQUIRE(result);
    CHECK(scene.program.labels[result->culprits[0].place.label.value].name == "a");
    CHECK(result->culprits[0].place.stream == compute_stream);
}

TEST_CASE("a host that hangs in its own work never comes out of it")
{
    Scene scene(1);
    scene.on(0).host(40);
    scene.on(0).compute(10);
    stop(scene, 0, StopKind::hangs, 40);
    CHECK(standstill_of(scene)); // the host op ends at 40, the compute op is not issued any more
    stop(scene, 0, StopKind::hangs, 41);
    CHECK_FALSE(standstill_of(scene));
}

TEST_CASE("a rank that dies takes the transfers with it that it is in")
{
    for (const StopKind kind : {StopKind::hangs, StopKind::dies}) {
        Scene scene(3);
        const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2});
        for (const std::size_t lane : {0U, 1U, 2U})
            scene.on(lane).collective(dp, transfer(20, 100));
        stop(scene, 2, kind, 119);
        const auto result = standstill_of(scene);
        CHECK(result.has_value() == (kind == StopKind::dies)); // a hung one has issued its kernel
        if (!result)
            continue;
        REQUIRE(result->waits.size() == 1);
        CHECK(result->waits[0].cause == WaitCause::death);
        CHECK(lanes_of(result->waits[0].here) == std::vector{LaneId{0}, LaneId{1}});
        CHECK(result->waits[0].missing == std::vector{LaneId{2}});
        stop(scene, 2, kind, 120); // the transfer has just ended
        CHECK_FALSE(standstill_of(scene));
    }
}

TEST_CASE("a transfer that a dead rank had joined never begins")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.on(0).collective(dp, transfer(0, 10));
    scene.on(1).compute(100).record("computed");
    scene.on(1).collective(dp, transfer(0, 10)).wait("computed");
    stop(scene, 0, StopKind::dies, 50);
    const auto result = standstill_of(scene);
    REQUIRE(result);
    REQUIRE(result->waits.size() == 1);
    CHECK(lanes_of(result->waits[0].here) == std::vector{LaneId{1}});
    CHECK(result->waits[0].missing == std::vector{LaneId{0}});
    CHECK(result->at == SimTime(100));
}

TEST_CASE("an eager message leaves before its sender dies, or is lost with it")
{
    TransferCost cost = transfer(0, 100);
    cost.eager = true;
    for (const std::int64_t death : {99, 100}) {
        Scene scene(2);
        scene.on(0).exchange().send(1, cost);
        scene.on(1).compute(200).record("computed");
        scene.on(1).exchange().receive(0, cost).wait("computed");
        stop(scene, 0, StopKind::dies, death);
        const auto result = standstill_of(scene);
        CHECK(result.has_value() == (death == 99));
        if (result)
            CHECK(result->waits[0].missing == std::vector{LaneId{0}});
    }
}

TEST_CASE("the chain of waits leads to the rank that hangs")
{
    // 0 and 1 sum over tp, 1 and 2 over dp, 2 and 3 over cp: 3 hangs, so 2 waits for it, 1 for 2,
    // 0 for 1.
    Scene scene(4);
    const GroupSlot tp = scene.group(GroupKind::tp, {0, 1});
    const GroupSlot dp = scene.group(GroupKind::dp, {1, 2});
    const GroupSlot cp = scene.group(GroupKind::cp, {2, 3});
    scene.on(3).compute(10).collective(cp, transfer(0, 10), tp_stream);
    scene.on(2).collective(cp, transfer(0, 10), tp_stream).record("cp");
    scene.on(2).collective(dp, transfer(0, 10)).wait("cp");
    scene.on(1).collective(dp, transfer(0, 10)).record("dp");
    scene.on(1).collective(tp, transfer(0, 10), tp_stream).wait("dp");
    scene.on(0).collective(tp, transfer(0, 10), tp_stream);
    stop(scene, 3, StopKind::hangs, 0);
    const auto result = standstill_of(scene);
    REQUIRE(result);
    REQUIRE(result->waits.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(result->waits[i].distance == static_cast<int>(i) + 1);
        CHECK(result->waits[i].missing == std::vector{make_id<LaneId>(3 - i)});
    }
    const auto problems = scene.try_run({.steps = 1});
    REQUIRE_FALSE(problems.has_value());
    CHECK(problems.error()[0].message == "rank 3 hangs at 0 s");
    CHECK(problems.error()[0].hint == "its host does not issue \"work\" (stream compute, step 1)");
    CHECK(problems.error()[1].message ==
          "rank 2 waits for rank 3 in all_reduce \"sum\", collective 1 of cp group 2 (2 ranks)");
    CHECK(problems.error()[1].hint == "rank 3 hangs");
    CHECK(problems.error()[2].hint == "rank 2 is in all_reduce \"sum\" (stream tp, step 1)");
}

TEST_CASE("the links of a transfer that a death ends are free again")
{
    // Two messages share a link of 1000 bytes per second: each gets half of it, 500 for 100 ps. One
    // breaks off then; the other's rest moves at the full rate.
    Scene scene(4);
    scene.link(1000);
    for (const std::size_t lane : {0U, 2U}) {
        scene.on(lane).exchange().send(lane + 1, transfer(0, 100));
        scene.on(lane + 1).exchange().receive(lane, transfer(0, 100));
        scene.binding.lanes[lane].peers[lane + 1].links = {{LinkId{0}}};
    }
    stop(scene, 0, StopKind::dies, 100);
    const auto result = standstill_of(scene, Fidelity::bundle);
    REQUIRE(result);
    REQUIRE(result->waits.size() == 1); // of rank 1; ranks 2 and 3 are through
    CHECK(lanes_of(result->waits[0].here) == std::vector{LaneId{1}});
    CHECK(result->at == SimTime(100));
}

TEST_CASE("a stop behind the end of the last step changes nothing")
{
    for (const StopKind kind : {StopKind::hangs, StopKind::dies}) {
        Scene scene(2);
        const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
        for (const std::size_t lane : {0U, 1U})
            scene.on(lane).compute(30).collective(dp, transfer(5, 10));
        const StepResult healthy = scene.run();
        stop(scene, 0, kind, 45);
        CHECK(scene.run() == healthy);
    }
}
