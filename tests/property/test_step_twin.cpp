// Fidelities flow and chunk: the event engine, which keeps a ring whole until others slow it,
// against the reference engine, which steps it from the start on. All results, to the picosecond.

#include "tests/support/flaws.h"
#include "tests/support/random_scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Met {
    int disturbed = 0; // programs in which some collective was
    int stuck = 0;
};

void compare(Scene& scene, Fidelity fidelity, int steps, Met& met)
{
    scene.bind_roles();
    const std::vector<std::string> wrong = flaws(scene.program, scene.binding);
    INFO((wrong.empty() ? "" : wrong[0]));
    REQUIRE(flaws(scene.program).empty());
    REQUIRE(wrong.empty());
    RunControl control;
    control.steps = steps;
    control.fidelity = fidelity;
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    const auto plain = run_reference(scene.program, scene.binding, control);
    auto fast = run_event(scene.program, scene.binding, control);
    INFO((plain ? std::string("ran") : render(plain.error(), "")));
    REQUIRE(plain.has_value() == fast.has_value());
    if (!plain) {
        ++met.stuck;
        CHECK(render(fast.error(), "") == render(plain.error(), ""));
        return;
    }
    met.disturbed += plain->steps.disturbed > 0 ? 1 : 0;
    fast->events = plain->events;
    REQUIRE(fast->step_ends == plain->step_ends);
    const bool records = fast->records == plain->records;
    REQUIRE(records);
    REQUIRE(fast->steps == plain->steps);
    const bool links = fast->links == plain->links;
    REQUIRE(links);
    const bool same = *fast == *plain;
    REQUIRE(same);
    for (const LaneTotals& lane : plain->lanes)
        REQUIRE(time_sum(lane) == plain->step_time.value());
}

Met compare_random(const RandomTraits& traits, Fidelity fidelity, std::uint64_t seeds)
{
    Met met;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        RandomScene random(seed, traits);
        INFO("seed " << seed);
        compare(random.scene(), fidelity, 1 + static_cast<int>(seed % 3), met);
    }
    return met;
}

constexpr RandomTraits on_hops{.links = true, .hops = true};
constexpr RandomTraits disturbed_too{
    .interference = true, .links = true, .conditions = true, .hops = true};
// Rings of odd sizes, up to 33 members.
constexpr RandomTraits on_long_rings{
    .interference = true, .links = true, .hops = true, .actions = 40, .most_lanes = 33};

} // namespace

TEST_CASE("a ring opened when others slow it goes on as one stepped from its start")
{
    const Met met = compare_random(on_hops, Fidelity::flow, 3000);
    CHECK(met.disturbed > 1000);
    CHECK(compare_random(disturbed_too, Fidelity::flow, 1500).disturbed > 500);
    CHECK(compare_random(on_long_rings, Fidelity::flow, 300).disturbed > 200);
}

TEST_CASE("collectives that all go step by step do so in both engines alike")
{
    const Met met = compare_random(on_hops, Fidelity::chunk, 600);
    CHECK(met.disturbed > 300);
    CHECK(compare_random(disturbed_too, Fidelity::chunk, 300).disturbed > 150);
    CHECK(compare_random(on_long_rings, Fidelity::chunk, 50).disturbed > 40);
}
