#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Problems problems_of(Scene& scene, Fidelity fidelity = Fidelity::alpha_beta)
{
    RunControl control;
    control.fidelity = fidelity;
    const auto result = scene.try_run(control);
    REQUIRE_FALSE(result.has_value());
    return result.error();
}

} // namespace

TEST_CASE("two collectives issued in different orders are reported with ranks and ops")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    const GroupSlot tp = scene.group(GroupKind::tp, {0, 1});
    scene.on(0).collective(dp, transfer(0, 10)).collective(tp, transfer(0, 10));
    scene.on(1).collective(tp, transfer(0, 10)).collective(dp, transfer(0, 10));
    const Problems problems = problems_of(scene);
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].message ==
          "rank 0 waits for rank 1 in all_reduce \"sum\", collective 1 of dp group 0 (2 ranks)");
    CHECK(problems[0].hint == "rank 1 is in all_reduce \"sum\" (stream dp, step 1)");
    CHECK(problems[1].message ==
          "rank 1 waits for rank 0 in all_reduce \"sum\", collective 1 of tp group 1 (2 ranks)");
}

TEST_CASE("layers and micro-batches are numbered from 0, steps from 1, as in timelines")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    const GroupSlot tp = scene.group(GroupKind::tp, {0, 1});
    scene.on(0).collective(dp, transfer(0, 10));
    scene.on(1).collective(tp, transfer(0, 10));
    scene.bind_roles();
    scene.program.roles[1].order[0].micro_batch = 0;
    scene.program.roles[1].order[0].layer = 3;
    const auto result = run_reference(scene.program, scene.binding, {});
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error()[0].hint ==
          "rank 1 is in all_reduce \"sum\" (stream dp, layer 3, micro-batch 0, step 1)");
}

TEST_CASE("a member that never comes is named with where it ended")
{
    Scene scene(3);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2});
    for (const std::size_t lane : {0U, 2U})
        scene.on(lane).collective(dp, transfer(0, 10));
    scene.on(1).compute(10);
    const Problems problems = problems_of(scene);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].message == "ranks 0, 2 wait for rank 1 in all_reduce \"sum\", collective 1 "
                                 "of dp group 0 (3 ranks)");
    CHECK(problems[0].hint == "rank 1 has finished its program");
}

TEST_CASE("members of a group in different collectives are a mismatch")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.on(0).collective(dp, transfer(0, 10));
    scene.on(1).compute(5).record("a");
    scene.on(1)
        .collective(dp, transfer(0, 10))
        .wait("a")
        .label({"weights", Phase::parameter_sync, CollectiveKind::all_gather, GroupKind::dp});
    const Problems problems = problems_of(scene);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].message == "rank 1 comes with all_gather \"weights\", rank 0 with all_reduce "
                                 "\"sum\", to collective 1 of dp group 0 (2 ranks)");
    CHECK(problems[0].hint ==
          "all members of a group must issue the same collectives in one order");
}

TEST_CASE("sends without a receiver are reported")
{
    Scene scene(2);
    scene.on(0).exchange().send(1, transfer(0, 10));
    scene.on(1).compute(10);
    const Problems problems = problems_of(scene);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].message ==
          "rank 0 waits for rank 1 in send_receive \"pass\", message 1 from rank 0 to rank 1");
}

TEST_CASE("messages of different size on the two sides are a mismatch")
{
    Scene scene(2);
    scene.on(0).exchange().send(1, transfer(0, 10));
    scene.on(1).exchange().receive(0, transfer(0, 20));
    const Problems problems = problems_of(scene);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems[0].message, ContainsSubstring("message 1 from rank 0 to rank 1"));
    CHECK(problems[0].hint == "both ends must issue their messages in one order and of one size");
}

TEST_CASE("blocking sends that face each other deadlock under rendezvous and not when eager")
{
    for (const bool eager : {false, true}) {
        Scene scene(2);
        TransferCost cost = transfer(0, 10);
        cost.eager = eager;
        for (const std::size_t lane : {0U, 1U}) {
            scene.on(lane).exchange().send(1 - lane, cost);
            scene.on(lane).exchange().receive(1 - lane, cost);
        }
        const auto result = scene.try_run();
        CHECK(result.has_value() == eager);
        if (!result)
            CHECK(result.error().size() == 2);
    }
}

TEST_CASE("a transfer over a dead link is a stall that names the link")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.link(1000);
    scene.group_of(dp).ring = {{scene.link(0)}};
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).collective(dp, transfer(0, 10));
    const Problems problems = problems_of(scene, Fidelity::bundle);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].message == "all_reduce \"sum\", collective 1 of dp group 0 (2 ranks), moves "
                                 "nothing: its share of a link is 0 bytes per second");
    CHECK(problems[0].hint == "link 1 has no capacity");
    CHECK(scene.run(1, Fidelity::alpha_beta).step_time == SimTime(10)); // which knows no links
}

TEST_CASE("a large deadlock is summed up")
{
    Scene scene(24);
    std::vector<std::size_t> all(24);
    for (std::size_t lane = 0; lane < 24; ++lane)
        all[lane] = lane;
    const GroupSlot world = scene.group(GroupKind::world, all);
    for (std::size_t lane = 0; lane < 20; ++lane)
        scene.on(lane).collective(world, transfer(0, 1));
    for (std::size_t lane = 20; lane < 24; ++lane)
        scene.on(lane).compute(1);
    const Problems problems = problems_of(scene);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems[0].message, StartsWith("ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more wait for "
                                               "ranks 20, 21, 22, 23 in all_reduce"));
}
