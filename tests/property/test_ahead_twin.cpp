// Lanes run ahead of the clock against the reference engine: everything but the count of events, on
// thousands of random programs.

#include "sim/engine/ahead/ahead.h"
#include "tests/support/flaws.h"
#include "tests/support/grid_job.h"
#include "tests/support/random_repeats.h"
#include "tests/support/random_scene.h"
#include "tests/support/recording.h"
#include "tests/support/replicas.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Whether it ran ahead; then the results must be equal.
bool runs_equal(const Program& program, const Binding& binding, const RunControl& control)
{
    const auto reference = run_reference(program, binding, control);
    REQUIRE(reference.has_value());
    auto ahead = engine::run_ahead(program, binding, control);
    if (!ahead)
        return false;
    CHECK(ahead->events <= reference->events);
    ahead->events = reference->events;
    REQUIRE(ahead->step_ends == reference->step_ends);
    REQUIRE(ahead->lane_ends == reference->lane_ends);
    const bool same_records = ahead->records == reference->records;
    REQUIRE(same_records);
    for (std::size_t l = 0; l < ahead->lanes.size(); ++l) {
        INFO("lane " << l);
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            INFO("kind " << k);
            REQUIRE(ahead->lanes[l].time[k].value() == reference->lanes[l].time[k].value());
        }
    }
    REQUIRE(ahead->transfers == reference->transfers);
    const bool equal = *ahead == *reference;
    REQUIRE(equal);
    return true;
}

bool runs_equal(const Program& program, const Binding& binding, int steps)
{
    return runs_equal(program, binding, recording_some(steps));
}

void require_equal(const Program& program, const Binding& binding, int steps)
{
    REQUIRE(runs_equal(program, binding, steps));
}

void require_equal_at_random(const RandomTraits& traits, std::uint64_t seeds)
{
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        RandomScene random(seed, traits);
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        require_equal(scene.program, scene.binding, 1 + static_cast<int>(seed % 4));
    }
}

} // namespace

TEST_CASE("random programs run ahead as the reference engine runs them")
{
    require_equal_at_random({.late = true}, 3000);
}

TEST_CASE("random programs with interference run ahead as the reference engine runs them")
{
    require_equal_at_random({.interference = true}, 3000);
    require_equal_at_random({.interference = true, .late = true, .actions = 60}, 1000);
}

TEST_CASE("random programs under jitter and lateness run ahead as the reference engine runs them")
{
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        RandomScene random(seed, {.interference = seed % 2 == 0, .conditions = true});
        Scene& scene = random.scene();
        scene.bind_roles();
        for (Lane& lane : scene.binding.lanes)
            lane.windows.clear();
        INFO("seed " << seed);
        require_equal(scene.program, scene.binding, 1 + static_cast<int>(seed % 4));
    }
}

TEST_CASE("random programs of many steps run ahead as the reference engine runs them")
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, {.late = true});
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        require_equal(scene.program, scene.binding, 9 + static_cast<int>(seed % 20));
    }
}

// Lanes that are not recorded leap over what goes alike every time.
TEST_CASE("blocks used again and again run ahead as the reference engine runs them")
{
    int given_up = 0;
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        const RandomRepeats random(seed, {.interference = seed % 3 != 0});
        INFO("seed " << seed);
        REQUIRE(flaws(random.program).empty());
        REQUIRE(flaws(random.program, random.binding).empty());
        RunControl control;
        control.steps = 1 + static_cast<int>(seed % 5);
        given_up += runs_equal(random.program, random.binding, control) ? 0 : 1;
    }
    CHECK(given_up < 60);
}

// A stream that may go no further ahead of its lane can come too late.
TEST_CASE("what cannot be worked out ahead exactly is given up")
{
    int ran = 0;
    int given_up = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        RandomScene random(seed, {.interference = true, .actions = 15, .most_lanes = 3});
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        const int steps = 9 + static_cast<int>(seed % 20);
        ++(runs_equal(scene.program, scene.binding, steps) ? ran : given_up);
    }
    CHECK(ran > 1000);
    CHECK(given_up > 100);
}

TEST_CASE("replicas of random programs run ahead as the reference engine runs them")
{
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        RandomScene random(seed, {.interference = seed % 3 != 0, .late = seed % 2 == 0});
        Scene& scene = random.scene();
        scene.bind_roles();
        const auto copies = static_cast<std::uint32_t>(2 + seed % 9);
        const Binding binding = Replicator(scene.binding, copies, seed).replicate();
        INFO("seed " << seed);
        require_equal(scene.program, binding, 1 + static_cast<int>(seed % 3));
    }
}

TEST_CASE("grids run ahead as the reference engine runs them")
{
    for (const std::uint32_t dp : {1U, 2U, 7U, 24U})
        for (const std::uint32_t tp : {1U, 3U, 8U})
            for (const std::uint32_t share : {0U, full_share / 8}) {
                const GridJob job = grid_job({.tp = tp,
                                              .pp = 1 + dp % 4,
                                              .dp = dp,
                                              .micro_batches = 5,
                                              .uneven = true,
                                              .sm_share = share,
                                              .traffic_share = 2 * share,
                                              .free_messages = true});
                INFO("tp " << tp << " dp " << dp << " share " << share);
                for (const int steps : {1, 2, 5})
                    require_equal(job.program, job.binding, steps);
            }
}
