#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("a transfer beside compute is not exposed, behind it is")
{
    // The sum moves 0..150 beside 100 of compute; the update waits for it.
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).collective(dp, transfer(10, 140)).record("summed");
        scene.on(lane).compute(100).phase(Phase::backward);
        scene.on(lane).compute(20).phase(Phase::optimizer).wait("summed");
    }
    const StepResult result = scene.run();
    CHECK(time_in(result, 0, TimeKind::backward) == 100);
    CHECK(time_in(result, 0, TimeKind::exposed_dp) == 50);
    CHECK(time_in(result, 0, TimeKind::optimizer) == 20);
    CHECK(result.lanes[0].communication_busy == SimTime(150));
    CHECK(result.lanes[0].compute_busy == SimTime(120));
    REQUIRE(result.transfers.size() == 1);
    const TransferTotals& totals = result.transfers[0];
    CHECK(totals.collective == CollectiveKind::all_reduce);
    CHECK(totals.group == GroupKind::dp);
    CHECK(totals.count == 2);
    CHECK(totals.bytes == 280);
    CHECK(totals.transfer_seconds == Approx(300e-12));
    CHECK(totals.exposed_seconds == Approx(100e-12));
    CHECK(totals.waiting_seconds == 0);
}

TEST_CASE("idle time goes to what the next compute op waits for, not to what happens beside")
{
    // The compute stream waits 0..300 for a late neighbour's message; a sum moves meanwhile.
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).collective(dp, transfer(0, 200));
    scene.on(0).exchange().receive(1, transfer(0, 50)).record("in");
    scene.on(0).compute(10).wait("in");
    scene.on(1).compute(300).record("made");
    scene.on(1).exchange().send(0, transfer(0, 50)).wait("made");
    const StepResult result = scene.run();
    CHECK(time_in(result, 0, TimeKind::bubble) == 300);
    CHECK(time_in(result, 0, TimeKind::exposed_pp) == 50);
    CHECK(time_in(result, 0, TimeKind::exposed_dp) == 0);
}

TEST_CASE("the reason is followed through streams that wait themselves")
{
    // compute waits for tp, which waits for the sum on dp.
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    const GroupSlot tp = scene.group(GroupKind::tp, {0, 1});
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).collective(dp, transfer(0, 200)).record("summed");
        scene.on(lane).collective(tp, transfer(0, 30), tp_stream).wait("summed").record("shared");
        scene.on(lane).compute(10).wait("shared");
    }
    const StepResult result = scene.run();
    CHECK(time_in(result, 0, TimeKind::exposed_dp) == 200);
    CHECK(time_in(result, 0, TimeKind::exposed_tp) == 30);
}

TEST_CASE("the kind of the group decides where exposed time goes")
{
    const auto exposed = [](GroupKind kind, TimeKind time) {
        Scene scene(1);
        const GroupSlot group = scene.group(kind, {0});
        scene.on(0).collective(group, transfer(0, 25)).record("a");
        scene.on(0).compute(1).wait("a");
        return time_in(scene.run(), 0, time);
    };
    CHECK(exposed(GroupKind::tp, TimeKind::exposed_tp) == 25);
    CHECK(exposed(GroupKind::cp, TimeKind::exposed_cp) == 25);
    CHECK(exposed(GroupKind::ep, TimeKind::exposed_ep) == 25);
    CHECK(exposed(GroupKind::etp, TimeKind::exposed_ep) == 25);
    CHECK(exposed(GroupKind::dp, TimeKind::exposed_dp) == 25);
    CHECK(exposed(GroupKind::edp, TimeKind::exposed_dp) == 25);
    CHECK(exposed(GroupKind::world, TimeKind::exposed_dp) == 25);
    CHECK(exposed(GroupKind::pp, TimeKind::exposed_pp) == 25);
    CHECK(exposed(GroupKind::embedding, TimeKind::exposed_pp) == 25);
}

TEST_CASE("phases of compute keep their names")
{
    Scene scene(1);
    scene.on(0).compute(1).phase(Phase::forward);
    scene.on(0).compute(2).phase(Phase::backward);
    scene.on(0).compute(4).phase(Phase::recompute);
    scene.on(0).compute(8).phase(Phase::optimizer);
    scene.on(0).compute(16).phase(Phase::gradient_sync);
    const StepResult result = scene.run();
    CHECK(time_in(result, 0, TimeKind::forward) == 1);
    CHECK(time_in(result, 0, TimeKind::backward) == 2);
    CHECK(time_in(result, 0, TimeKind::recompute) == 4);
    CHECK(time_in(result, 0, TimeKind::optimizer) == 8);
    CHECK(time_in(result, 0, TimeKind::other_compute) == 16);
}

TEST_CASE("a lane that stands for many ranks counts as many")
{
    Scene scene(1);
    const GroupSlot dp = scene.group(GroupKind::dp, {0});
    scene.group_of(dp).ranks = 8;
    scene.binding.lanes[0].multiplicity = 8;
    scene.on(0).collective(dp, transfer(0, 40));
    const StepResult result = scene.run();
    CHECK(result.transfers[0].count == 8);
    CHECK(result.transfers[0].transfer_seconds == Approx(320e-12));
}

TEST_CASE("only the measured step counts")
{
    Scene scene(1);
    const GroupSlot dp = scene.group(GroupKind::dp, {0});
    scene.on(0).compute(100).record("a");
    scene.on(0).collective(dp, transfer(0, 40)).wait("a").record("b");
    scene.on(0).compute(10).wait("b");
    for (const int steps : {1, 2, 4}) {
        const StepResult result = scene.run(steps);
        CHECK(result.transfers[0].count == 1);
        CHECK(time_in(result, 0, TimeKind::forward) == 110);
        CHECK(time_in(result, 0, TimeKind::exposed_dp) == 40);
        CHECK(result.ops == 3 * static_cast<std::uint64_t>(steps));
    }
}

TEST_CASE("lanes that run apart are accounted for over the same step time")
{
    // Nothing ties the lanes: the slow one sets the step, the fast one idles for the rest.
    Scene scene(2);
    scene.on(0).compute(40);
    scene.on(1).compute(100);
    const StepResult result = scene.run(3);
    CHECK(result.step_time == SimTime(100));
    CHECK(time_in(result, 0, TimeKind::forward) == 40);
    CHECK(time_in(result, 0, TimeKind::bubble) == 60);
    CHECK(result.critical_lane == LaneId{1});
}

TEST_CASE("without a pipeline a lane that is done early waits, for nothing else is a bubble")
{
    // The lanes above, both of one role: lane 1 does the same work in 2.5 times as long.
    Scene scene(2);
    scene.on(0).compute(40).scaled();
    scene.binding.lanes[1].role = RoleId{0};
    scene.binding.lanes[1].scales[0] = full_share * 5 / 2;
    for (const Tier tier : {Tier::replay, Tier::ahead, Tier::event, Tier::reference}) {
        INFO(to_name(tier));
        scene.bind_roles();
        const auto result = run(scene.program, scene.binding, {.tier = tier, .steps = 3});
        REQUIRE(result);
        CHECK(result->result.step_time == SimTime(100));
        CHECK(time_in(result->result, 0, TimeKind::waiting) == 60);
        CHECK(time_in(result->result, 0, TimeKind::bubble) == 0);
    }
}

TEST_CASE("when nothing is left to compute, the last transfer is what the lane does")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U}) {
        scene.on(lane).compute(lane == 0 ? 50 : 80).record("a");
        scene.on(lane).collective(dp, transfer(0, 30)).wait("a");
    }
    const StepResult result = scene.run();
    CHECK(time_in(result, 0, TimeKind::waiting) == 30);
    CHECK(time_in(result, 0, TimeKind::exposed_dp) == 30);
}

TEST_CASE("waiting for another stage in a collective is bubble, for one of the same stage waiting")
{
    // Each lane of a scene is a role of its own, as stages are. Lane 0 comes 30 early.
    for (const auto& [kind, expected] :
         {std::pair(GroupKind::world, TimeKind::bubble),
          std::pair(GroupKind::embedding, TimeKind::bubble),
          std::pair(GroupKind::dp, TimeKind::waiting), std::pair(GroupKind::tp, TimeKind::waiting)})
    {
        Scene scene(2);
        const GroupSlot group = scene.group(kind, {0, 1});
        for (const std::size_t lane : {0U, 1U}) {
            scene.on(lane).compute(lane == 0 ? 50 : 80).record("a");
            scene.on(lane).collective(group, transfer(0, 20)).wait("a").record("agreed");
            scene.on(lane).compute(10).wait("agreed");
        }
        const StepResult result = scene.run();
        CHECK(time_in(result, 0, expected) == 30);
        CHECK(time_in(result, 1, expected) == 0);
        CHECK(result.step_time == SimTime(110));
    }
}

TEST_CASE(
    "compute ops taken as one event are charged one by one, also behind a barrier of the host")
{
    // In each step A takes 30, B 5 but its last of five kernels is issued 60 after the host began
    // the step, C 100, whose kernels cost the host nothing. The host stops in the middle of B, and
    // behind C. From the step before a copy lasts until C has computed for 38.
    Scene scene(1);
    scene.binding.costs.host_per_kernel[static_cast<std::size_t>(Phase::forward)] = SimTime(10);
    LaneWriter lane = scene.on(0);
    lane.copy(260).kernels(0);
    lane.compute(30);
    lane.compute(5).kernels(5);
    lane.compute(100).phase(Phase::backward).record("computed");
    lane.host(0);
    lane.host(0).wait("computed");
    const StepResult result = scene.run(2);
    CHECK(time_in(result, 0, TimeKind::backward) == 62);
    CHECK(time_in(result, 0, TimeKind::host) == 0);
    const auto again = run_event(scene.program, scene.binding, {});
    REQUIRE(again);
    CHECK(again->lanes == result.lanes);
}
