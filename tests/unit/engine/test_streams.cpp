#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("independent streams overlap: the step takes the longer of the two")
{
    Scene scene(1);
    scene.on(0).compute(100).compute(70, second_compute_stream);
    CHECK(scene.run().step_time == SimTime(100));
}

TEST_CASE("ops of one stream follow each other")
{
    Scene scene(1);
    scene.on(0).compute(100).compute(70);
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(170));
    CHECK(result.ops == 2);
    REQUIRE(result.records.size() == 2);
    CHECK(result.records[1].start == SimTime(100));
}

TEST_CASE("an event orders two streams")
{
    Scene scene(1);
    scene.on(0).compute(100).record("a");
    scene.on(0).compute(30, second_compute_stream);
    scene.on(0).compute(70, second_compute_stream).wait("a");
    CHECK(scene.run().step_time == SimTime(170));
}

TEST_CASE("an event means its latest record written before the wait")
{
    // The wait stands behind the record of 100 and before that of 1000.
    Scene scene(1);
    scene.on(0).compute(100).record("a");
    scene.on(0).compute(70, second_compute_stream).wait("a");
    scene.on(0).compute(900).record("a");
    const StepResult result = scene.run();
    CHECK(result.step_time == SimTime(1000));
    CHECK(result.records[1].end == SimTime(170));
}

TEST_CASE("waiting for an event never recorded passes, and the next step meets the last record")
{
    // A prefetch written behind its user: in step 0 the wait passes, in step 1 it meets the record
    // of step 0.
    Scene scene(1);
    scene.on(0).compute(10).wait("fetched");
    scene.on(0).copy(50).record("fetched");
    const StepResult result = scene.run(3);
    CHECK(result.records[0].end == SimTime(10));
    // The copies run back to back; step k computes when copy k-1 has ended.
    CHECK(result.step_ends == std::vector{SimTime(50), SimTime(100), SimTime(150)});
    CHECK(time_in(result, 0, TimeKind::data) == 40); // beside the other 10 it computes
}

TEST_CASE("a scale slot stretches the op on that lane alone")
{
    Scene scene(2);
    for (std::size_t lane : {0, 1})
        scene.on(lane).compute(1000).scaled().compute(10);
    scene.binding.lanes[1].scales[0] = full_share + full_share / 4;
    const StepResult result = scene.run();
    CHECK(result.lane_ends == std::vector{SimTime(1010), SimTime(1260)});
}

TEST_CASE("a lane may start late")
{
    Scene scene(2);
    for (std::size_t lane : {0, 1})
        scene.on(lane).compute(100);
    scene.binding.lanes[1].start = SimTime(40);
    const StepResult result = scene.run();
    CHECK(result.lane_ends == std::vector{SimTime(100), SimTime(140)});
    CHECK(time_in(result, 1, TimeKind::bubble) == 40);
}
