#include "tests/support/grid_job.h"
#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("a cancelled run stops")
{
    CancelFlag flag;
    flag.cancel();
    RunControl control;
    control.work.cancel = &flag;
    const GridJob job = grid_job({});
    CHECK_THROWS_AS(run_reference(job.program, job.binding, control), Cancelled);
}

TEST_CASE("a run may be cancelled from its own progress")
{
    CancelFlag flag;
    double done = 0;
    RunControl control;
    control.steps = 200;
    control.work.cancel = &flag;
    control.work.progress = [&](std::string_view, double so_far, double total) {
        CHECK(so_far <= total);
        CHECK(so_far >= done);
        done = so_far;
        if (done > total / 2)
            flag.cancel();
    };
    const GridJob job = grid_job({.layers = 8, .micro_batches = 8});
    CHECK_THROWS_AS(run_reference(job.program, job.binding, control), Cancelled);
    CHECK(done > 0);
}

TEST_CASE("the recorder keeps the lanes and steps asked for")
{
    const GridJob job = grid_job({.layers = 1, .micro_batches = 2});
    RunControl control;
    control.steps = 3;
    control.record = RecordRequest{[](LaneId lane) { return lane.value == 3; }, 1};
    const StepResult result = *run_reference(job.program, job.binding, control);
    const Role& role = job.program.roles[job.binding.lanes[3].role.value];
    CHECK(result.records.size() == 2 * op_count(job.program, role));
    for (const OpRecord& record : result.records) {
        CHECK(record.lane == LaneId{3});
        CHECK(record.step >= 1);
        CHECK(record.issued <= record.start);
        CHECK(record.start <= record.transfer_start);
        CHECK(record.transfer_start <= record.end);
    }
}

TEST_CASE("recording changes nothing")
{
    const GridJob job = grid_job({.uneven = true});
    RunControl control;
    const StepResult plain = *run_reference(job.program, job.binding, control);
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    StepResult recorded = *run_reference(job.program, job.binding, control);
    CHECK(recorded.records.size() == plain.ops);
    recorded.records.clear();
    CHECK(recorded == plain);
}

TEST_CASE("a record says what ran: block use, bytes, group")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).collective(dp, transfer(0, 64));
    scene.bind_roles();
    scene.program.roles[0].order[0].micro_batch = 7;
    scene.program.roles[0].order[0].layer = 3;
    RunControl control;
    control.steps = 1;
    control.record = RecordRequest{[](LaneId lane) { return lane.value == 0; }, 0};
    const StepResult result = *run_reference(scene.program, scene.binding, control);
    REQUIRE(result.records.size() == 1);
    const OpRecord& record = result.records[0];
    CHECK(record.kind == OpKind::collective);
    CHECK(record.stream == dp_stream);
    CHECK(record.group == GroupId{0});
    CHECK(record.bytes == Bytes(64));
    CHECK(record.micro_batch == 7);
    CHECK(record.layer == 3);
}

TEST_CASE("steps beyond the end of the clock are refused, not wrapped around")
{
    GridJob job = grid_job({});
    for (SimTime& time : job.binding.costs.compute)
        time = SimTime(longest_sim_time.value() / 2);
    const Checked<StepResult> result = run_reference(job.program, job.binding, {});
    REQUIRE_FALSE(result);
    // 2^61 ps is 26.7 days.
    CHECK(result.error().front().message.find("27 days") != std::string::npos);
}

TEST_CASE("hosts that come behind the end of the clock are refused, not waited for")
{
    const auto refused = [](const auto& change) {
        GridJob job = grid_job({});
        change(job.binding.lanes.back());
        const Checked<StepResult> result = run_reference(job.program, job.binding, {.steps = 4});
        REQUIRE_FALSE(result);
        CHECK(result.error().front().message.find("27 days") != std::string::npos);
    };
    refused([](Lane& lane) { lane.start = longest_sim_time; });
    refused([](Lane& lane) { lane.late.assign(4, SimTime(longest_sim_time.value() / 3)); });
    refused([](Lane& lane) { lane.late.assign(4, longest_sim_time); }); // 2^63 in all
}

TEST_CASE("what would only have ended behind the clock's end as things once stood is not refused")
{
    // For 100 the sum leaves compute a tenth of the device: so slowed it would take 2.5 clocks.
    Scene scene(1);
    const GroupSlot dp = scene.group(GroupKind::dp, {0});
    TransferCost cost = transfer(0, 100);
    cost.sm_share = full_share / 10 * 9;
    const std::int64_t alone = longest_sim_time.value() / 4;
    scene.on(0).collective(dp, cost).compute(alone);
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(alone + 90));
    const auto fast = run_event(scene.program, scene.binding, {.steps = 1});
    REQUIRE(fast);
    CHECK(fast->step_time == result.step_time);
}

TEST_CASE("a program without ops takes no time")
{
    Scene scene(2);
    scene.on(0).compute(10);
    const StepResult result = scene.run(2);
    CHECK(result.step_ends == std::vector{SimTime(10), SimTime(20)});
    CHECK(time_in(result, 1, TimeKind::bubble) == 10);

    // However late the idle lane starts.
    scene.binding.lanes[1].start = SimTime(7);
    CHECK(time_in(scene.run(1), 1, TimeKind::bubble) == 10);

    Scene idle(2);
    CHECK(idle.run(2).step_time == SimTime(0));
}
