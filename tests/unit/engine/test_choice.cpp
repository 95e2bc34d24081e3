#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

TierUse use_of(Fidelity fidelity, void (*change)(Scene&))
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).compute(100).collective(dp, transfer(0, 10));
    scene.bind_roles();
    change(scene);
    RunControl control;
    control.fidelity = fidelity;
    return run(scene.program, scene.binding, control)->use;
}

} // namespace

TEST_CASE("why the replay was not taken is its own reason where it has one, else the few ranks")
{
    const auto nothing = [](Scene&) {};
    CHECK(use_of(Fidelity::alpha_beta, nothing).reason ==
          "too few ranks are simulated for the replay to pay");
    CHECK(use_of(Fidelity::flow, nothing).reason == "transfers may slow each other on a link");
    CHECK(use_of(Fidelity::chunk, nothing).reason == "transfers may slow each other on a link");
    const auto slow_for_a_time = [](Scene& scene) {
        scene.binding.lanes[0].windows = {{SimTime(10), SimTime(20), full_share / 2}};
    };
    CHECK(use_of(Fidelity::alpha_beta, slow_for_a_time).reason == "some rank is slow for a time");
    CHECK(use_of(Fidelity::alpha_beta, slow_for_a_time).tier == Tier::event);
    CHECK(use_of(Fidelity::alpha_beta, nothing).tier == Tier::ahead);
}

TEST_CASE("an engine that was asked for runs, or says why it would not be exact")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).compute(100).collective(dp, transfer(0, 10));
    scene.bind_roles();
    const auto run_on = [&](Tier tier, Fidelity fidelity) {
        RunControl control;
        control.tier = tier;
        control.fidelity = fidelity;
        return run(scene.program, scene.binding, control);
    };
    for (const Tier tier : {Tier::replay, Tier::ahead, Tier::event, Tier::reference}) {
        const auto ran = run_on(tier, Fidelity::alpha_beta);
        REQUIRE(ran);
        CHECK(ran->use == TierUse{tier, ""});
        CHECK(ran->result.step_time ==
              run_on(Tier::reference, Fidelity::alpha_beta)->result.step_time);
    }
    for (const Tier tier : {Tier::replay, Tier::ahead}) {
        const auto refused = run_on(tier, Fidelity::flow);
        REQUIRE_FALSE(refused);
        CHECK(refused.error()[0].message.starts_with("the " + std::string(to_name(tier)) +
                                                     " engine would not be exact here: "));
    }
}

TEST_CASE("a program that takes more memory than there is comes back as a problem")
{
    Scene scene(1);
    scene.on(0).compute(100).compute(100);
    scene.bind_roles();
    CHECK(memory_problems(scene.program, Bytes(1000)).empty());
    CHECK(memory_problems(scene.program, Bytes(100)).size() == 1);
}
