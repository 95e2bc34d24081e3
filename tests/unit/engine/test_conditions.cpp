// Conditions of single lanes: windows of slowness, jitter, late steps.

#include "tests/support/flaws.h"
#include "tests/support/random_scene.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Factors that rise evenly with the logarithm of the tail, as an exponential tail does.
Jitter rising(std::uint64_t seed)
{
    Jitter jitter;
    jitter.seed = seed;
    for (std::uint32_t edge = 0; edge < jitter_edges; ++edge)
        jitter.factors.push_back(full_share);
    for (std::uint32_t edge = 0; edge < jitter_edges; ++edge)
        jitter.factors.push_back(full_share + 1000 * edge);
    return jitter;
}

std::int64_t end_of(Scene& scene, int steps = 1)
{
    return scene.run(steps).step_ends.back().value();
}

} // namespace

TEST_CASE("compute drains at the speed of the window that it is in")
{
    Scene scene(1);
    scene.on(0).compute(100);
    // 40 ps alone; then 80 ps at a quarter do 20 ps of work; 40 ps are left.
    scene.binding.lanes[0].windows = {{SimTime(40), SimTime(120), full_share / 4}};
    CHECK(end_of(scene) == 160);
}

TEST_CASE("windows that touch follow each other")
{
    Scene scene(1);
    scene.on(0).compute(100);
    // 10 at full, 40 at half (20), 20 at a quarter (5), the remaining 65 at full: 135.
    scene.binding.lanes[0].windows = {{SimTime(10), SimTime(50), full_share / 2},
                                      {SimTime(50), SimTime(70), full_share / 4}};
    CHECK(end_of(scene) == 135);
}

TEST_CASE("a window over all time slows as a factor does")
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        RandomScene random(seed, {});
        Scene& scene = random.scene();
        for (SimTime& time : scene.binding.costs.host_per_kernel)
            time = SimTime(0); // the host's pace is not the device's
        for (Lane& lane : scene.binding.lanes)
            lane.scales[0] = full_share;
        scene.bind_roles();
        Scene doubled = scene;
        for (Block& block : doubled.program.blocks)
            for (Op& op : block.ops)
                if (op.kind == OpKind::compute)
                    op.scale = ScaleSlot{0};
                else
                    op.scale = ScaleSlot::none();
        Scene windowed = doubled;
        for (Lane& lane : doubled.binding.lanes)
            lane.scales[0] = 2 * full_share;
        for (Lane& lane : windowed.binding.lanes)
            lane.windows = {{SimTime(0), longest_sim_time, full_share / 2}};
        const auto factor = run_reference(doubled.program, doubled.binding, {});
        const auto window = run_reference(windowed.program, windowed.binding, {});
        INFO("seed " << seed);
        REQUIRE(factor);
        REQUIRE(window);
        CHECK(factor->step_ends == window->step_ends);
        CHECK(factor->lane_ends == window->lane_ends);
        CHECK(factor->lanes == window->lanes);
    }
}

TEST_CASE("a factor depends on seed, rank, step and place alone")
{
    const Jitter jitter = rising(7);
    const auto factor = jitter_factor(jitter, jitter_key(jitter.seed, RankId{3}), 1, 20);
    CHECK(factor == jitter_factor(jitter, jitter_key(jitter.seed, RankId{3}), 1, 20));
    CHECK(factor != jitter_factor(rising(8), jitter_key(rising(8).seed, RankId{3}), 1, 20));
    CHECK(jitter_word(jitter_key(7, RankId{3}), 1, 20) !=
          jitter_word(jitter_key(7, RankId{4}), 1, 20));
    CHECK(jitter_word(jitter_key(7, RankId{3}), 1, 20) !=
          jitter_word(jitter_key(7, RankId{3}), 2, 20));
    CHECK(jitter_word(jitter_key(7, RankId{3}), 1, 20) !=
          jitter_word(jitter_key(7, RankId{3}), 1, 21));
}

TEST_CASE("quantiles meet the edges of their table and lie between them")
{
    const Jitter jitter = rising(0);
    // The upper tail beyond 1/4 is edge 16, beyond 1/8 edge 32, beyond 3/8 edge 8.
    CHECK(jitter_quantile(jitter, ~(1ULL << 62)) == full_share + 16'000);
    CHECK(jitter_quantile(jitter, ~(1ULL << 61)) == full_share + 32'000);
    CHECK(jitter_quantile(jitter, ~(3ULL << 61)) == full_share + 8'000);
    CHECK(jitter_quantile(jitter, ~0ULL) == full_share + 512'000);
    CHECK(jitter_quantile(jitter, 0) == full_share);
    std::uint32_t last = 0;
    for (std::uint64_t word = 0; word < ~0ULL - (1ULL << 52); word += 1ULL << 52) {
        CHECK(jitter_quantile(jitter, word) >= last);
        last = jitter_quantile(jitter, word);
    }
}

TEST_CASE("a share of the kernels is disturbed")
{
    Jitter jitter = rising(3);
    jitter.chance = full_share / 8;
    std::fill(jitter.factors.begin(), jitter.factors.end(), 2 * full_share);
    int hit = 0;
    for (std::uint32_t place = 0; place < 80'000; ++place)
        hit += jitter_factor(jitter, jitter_key(jitter.seed, RankId{0}), 0, place) > full_share ? 1
                                                                                                : 0;
    // 10,000 expected; the standard deviation is sqrt(80,000 x 1/8 x 7/8) = 94.
    CHECK(hit > 9'600);
    CHECK(hit < 10'400);
}

TEST_CASE("jitter stretches compute and nothing else")
{
    Scene scene(1);
    scene.on(0).compute(100).record("a");
    scene.on(0).copy(50).wait("a");
    Jitter jitter = rising(1);
    std::fill(jitter.factors.begin(), jitter.factors.end(), 3 * full_share);
    scene.binding.jitters = {jitter};
    scene.binding.lanes[0].jitter = JitterId{0};
    CHECK(end_of(scene) == 350);
}

TEST_CASE("a late host issues the first op of that step later")
{
    Scene scene(1);
    scene.on(0).compute(100);
    scene.on(0).host(10);
    scene.binding.lanes[0].late = {SimTime(0), SimTime(250)};
    // Host op and compute run beside each other: 100. The host is at 10 then; late by 250 it issues
    // the second step's at 260, which ends at 360. The third follows.
    CHECK(end_of(scene, 1) == 100);
    CHECK(end_of(scene, 2) == 360);
    CHECK(end_of(scene, 3) == 460);
}

TEST_CASE("late input delays a step by what nobody made ahead")
{
    Scene scene(1);
    scene.on(0).copy(40, worker_stream).record("batch");
    scene.on(0).compute(100).wait("batch");
    // Batches at 40, 80, 120 without lateness; the second is 200 late: 280, then it computes 100.
    scene.binding.lanes[0].late_input = {SimTime(0), SimTime(200)};
    CHECK(end_of(scene, 1) == 140);
    CHECK(end_of(scene, 2) == 380);
    // The third batch is there at 320, before the second step has ended.
    CHECK(end_of(scene, 3) == 480);
}

TEST_CASE("conditions that make no sense are flaws")
{
    Scene scene(1);
    scene.on(0).compute(100);
    scene.bind_roles();
    Lane& lane = scene.binding.lanes[0];
    lane.windows = {{SimTime(40), SimTime(40), full_share}};
    CHECK_FALSE(flaws(scene.program, scene.binding).empty());
    lane.windows = {{SimTime(40), SimTime(50), full_share}, {SimTime(45), SimTime(60), 1}};
    CHECK_FALSE(flaws(scene.program, scene.binding).empty());
    lane.windows = {{SimTime(40), SimTime(50), 0}};
    CHECK_FALSE(flaws(scene.program, scene.binding).empty());
    lane.windows.clear();
    lane.jitter = JitterId{0};
    CHECK_FALSE(flaws(scene.program, scene.binding).empty());
    scene.binding.jitters = {rising(1)};
    CHECK(flaws(scene.program, scene.binding).empty());
}
