// Steps of which repetitions are left out against the reference engine, which runs them all.

#include "sim/engine/ahead/runner.h"
#include "tests/catch.h"
#include "tests/support/random_repeats.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Count {
    int exact = 0;
    int refused = 0;
};

// Where a run that leaves repetitions out comes to an end, all it says is as the reference has it.
void compare(const Program& program, const Binding& binding, int steps, Count& count)
{
    RunControl control;
    control.steps = steps;
    const engine::Omissions omissions = engine::ahead::find_omissions(program);
    if (omissions.empty()) // some lane takes no part in what repeats
        return;
    auto ran = engine::ahead::Runner(program, binding, control, omissions).run();
    ++(ran ? count.exact : count.refused);
    if (!ran)
        return;
    const auto reference = run_reference(program, binding, control);
    REQUIRE(reference.has_value());
    ran->events = reference->events;
    REQUIRE(ran->step_ends == reference->step_ends);
    for (std::size_t l = 0; l < ran->lanes.size(); ++l) {
        INFO("lane " << l);
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            INFO("kind " << k);
            REQUIRE(ran->lanes[l].time[k].value() == reference->lanes[l].time[k].value());
        }
    }
    const bool equal = *ran == *reference;
    REQUIRE(equal);
}

} // namespace

TEST_CASE("repetitions that are left out change no result")
{
    Count count;
    for (std::uint64_t seed = 0; seed < 12000; ++seed) {
        const int actions = 2 + static_cast<int>(seed % 19);
        const RandomRepeats random(seed, {.interference = seed % 3 != 0,
                                          .actions = actions,
                                          .repetitions = 8 + static_cast<int>(seed % 30),
                                          .repeated = 1 + actions / 2,
                                          .behind = actions,
                                          .lag = static_cast<int>(seed % 7),
                                          .host_time = seed % 5 == 0 ? 150 : 25});
        INFO("seed " << seed);
        REQUIRE(flaws(random.program).empty());
        compare(random.program, random.binding, 1 + static_cast<int>(seed % 4), count);
    }
    CHECK(count.exact > 600);
    CHECK(count.refused > 3000);
}
