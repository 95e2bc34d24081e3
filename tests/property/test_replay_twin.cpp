// The replay tier against the reference engine: everything but the count of events, on thousands of
// random programs.

#include "sim/engine/replay/replay.h"
#include "tests/support/flaws.h"
#include "tests/support/grid_job.h"
#include "tests/support/random_scene.h"
#include "tests/support/recording.h"
#include "tests/support/replicas.h"

#include <map>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Without records whole stretches are skipped; with the loops of every instruction set.
void require_equal_without_records(const Program& program, const Binding& binding,
                                   RunControl control, StepResult reference)
{
    reference.records.clear();
    reference.events = 0;
    control.record = {};
    for (const engine::replay::Kernels* kernels : engine::replay::usable_kernels()) {
        INFO("loops for " << kernels->name);
        const auto fast = engine::run_replay(program, binding, control, *kernels);
        REQUIRE(fast.has_value());
        const bool equal = *fast == reference;
        REQUIRE(equal);
    }
}

// Whether the replay ran; then it must equal the reference.
bool replays(const Program& program, const Binding& binding, const RunControl& control,
             std::map<std::string, int>& refusals)
{
    auto fast = engine::run_replay(program, binding, control);
    if (!fast) {
        ++refusals[fast.error().reason];
        return false;
    }
    const auto reference = run_reference(program, binding, control);
    REQUIRE(reference.has_value());
    fast->events = reference->events;
    REQUIRE(fast->step_ends == reference->step_ends);
    REQUIRE(fast->lane_ends == reference->lane_ends);
    for (std::size_t l = 0; l < fast->lanes.size(); ++l) {
        INFO("lane " << l);
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            INFO("kind " << k);
            REQUIRE(fast->lanes[l].time[k].value() == reference->lanes[l].time[k].value());
        }
        REQUIRE(fast->lanes[l].compute_busy.value() == reference->lanes[l].compute_busy.value());
        REQUIRE(fast->lanes[l].communication_busy.value() ==
                reference->lanes[l].communication_busy.value());
    }
    REQUIRE(fast->transfers == reference->transfers);
    const bool same_records = fast->records == reference->records;
    REQUIRE(same_records);
    const bool equal = *fast == *reference;
    REQUIRE(equal);
    require_equal_without_records(program, binding, control, *reference);
    return true;
}

void warn_of(const std::map<std::string, int>& refusals)
{
    for (const auto& [reason, count] : refusals)
        WARN(reason << ": " << count);
}

} // namespace

TEST_CASE("random programs replay as the reference engine runs them")
{
    std::map<std::string, int> refusals;
    int ran = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        RandomScene random(seed, {.late = seed % 2 == 0});
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        ran += replays(scene.program, scene.binding, recording_some(1 + static_cast<int>(seed % 3)),
                       refusals)
                   ? 1
                   : 0;
    }
    warn_of(refusals);
    CHECK(ran == 3000);
}

TEST_CASE("random programs with interference replay as the reference engine runs them")
{
    std::map<std::string, int> refusals;
    int ran = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        RandomScene random(seed, {.interference = true});
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        ran +=
            replays(scene.program, scene.binding, recording_some(seed % 4 == 0 ? 2 : 1), refusals)
                ? 1
                : 0;
    }
    warn_of(refusals);
    CHECK(ran > 1300);
}

TEST_CASE("random programs of several steps with interference replay as the reference runs them")
{
    std::map<std::string, int> refusals;
    int ran = 0;
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        RandomScene random(seed,
                           {.interference = true, .actions = 5 + static_cast<int>(seed % 20)});
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        ran += replays(scene.program, scene.binding, recording_some(3 + static_cast<int>(seed % 7)),
                       refusals)
                   ? 1
                   : 0;
    }
    warn_of(refusals);
    CHECK(ran > 300);
}

TEST_CASE("a transfer that may last until the step after the next computes is never replayed")
{
    // Each step computes and then sends, which nobody waits for: 100 of compute, 1000 of sending.
    const auto refused = [](int steps, bool waits) {
        Scene scene(1);
        const GroupSlot dp = scene.group(GroupKind::dp, {0});
        TransferCost cost = transfer(0, 1000);
        cost.sm_share = full_share / 2;
        LaneWriter lane = scene.on(0);
        lane.compute(100);
        if (waits)
            lane.wait("sent");
        lane.record("computed");
        lane.collective(dp, cost).wait("computed").record("sent");
        scene.bind_roles();
        std::map<std::string, int> refusals;
        return !replays(scene.program, scene.binding, recording_some(steps), refusals);
    };
    CHECK_FALSE(refused(2, false));
    CHECK(refused(3, false));
    CHECK_FALSE(refused(9, true));
}

TEST_CASE("how long a host takes is counted once, not for each op that it issues")
{
    // The host issues 20,000 ops in a row, 1 ms each: 20 s per step, while the sum of the times at
    // which it issues them is over two days, and of 20 steps beyond what the clock counts to.
    Scene scene(1);
    scene.binding.costs.host_per_kernel.fill(SimTime(1'000'000'000));
    for (int i = 0; i < 20'000; ++i)
        scene.on(0).compute(1);
    scene.bind_roles();
    std::map<std::string, int> refusals;
    CHECK(replays(scene.program, scene.binding, recording_some(20), refusals));
}

TEST_CASE("random programs whose kernels jitter replay as the reference engine runs them")
{
    std::map<std::string, int> refusals;
    int ran = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        RandomScene random(seed, {.interference = seed % 3 == 0, .conditions = true});
        Scene& scene = random.scene();
        scene.bind_roles();
        for (Lane& lane : scene.binding.lanes)
            lane.windows.clear();
        const auto copies = static_cast<std::uint32_t>(1 + seed % 5);
        const Binding binding = Replicator(scene.binding, copies, seed).replicate();
        INFO("seed " << seed);
        ran += replays(scene.program, binding, recording_some(1 + static_cast<int>(seed % 3)),
                       refusals)
                   ? 1
                   : 0;
    }
    warn_of(refusals);
    CHECK(ran > 1100);
}

TEST_CASE("replicas of random programs replay as the reference engine runs them")
{
    std::map<std::string, int> refusals;
    int ran = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        RandomScene random(seed, {.interference = seed % 3 == 0, .late = seed % 2 == 0});
        Scene& scene = random.scene();
        scene.bind_roles();
        const auto copies = static_cast<std::uint32_t>(2 + seed % 9);
        const Binding binding = Replicator(scene.binding, copies, seed).replicate();
        INFO("seed " << seed);
        REQUIRE(flaws(scene.program, binding).empty());
        ran += replays(scene.program, binding, recording_some(1 + static_cast<int>(seed % 3)),
                       refusals)
                   ? 1
                   : 0;
    }
    warn_of(refusals);
    CHECK(ran > 1000);
}

// Many lanes are executed slice by slice, also where groups lie across slices.
TEST_CASE("grids of many lanes replay as the reference engine runs them")
{
    std::map<std::string, int> refusals;
    for (const std::uint32_t tp : {1U, 3U, 8U})
        for (const std::uint32_t sm_share : {0U, full_share / 8}) {
            const GridJob job = grid_job({.tp = tp,
                                          .pp = 2,
                                          .dp = 600 / tp,
                                          .layers = 4,
                                          .micro_batches = 3,
                                          .uneven = true,
                                          .sm_share = sm_share,
                                          .free_messages = true});
            INFO("tp " << tp << " sm_share " << sm_share);
            for (const int steps : {1, 2})
                CHECK(replays(job.program, job.binding, recording_some(steps), refusals));
        }
    CHECK(refusals.empty());
}

TEST_CASE("grids of odd sizes replay as the reference engine runs them")
{
    std::map<std::string, int> refusals;
    for (const std::uint32_t dp : {1U, 2U, 3U, 7U, 24U, 33U, 40U})
        for (const std::uint32_t tp : {1U, 2U, 3U, 8U})
            for (const bool uneven : {false, true}) {
                const GridJob job = grid_job(
                    {.tp = tp, .pp = 1 + dp % 4, .dp = dp, .micro_batches = 5, .uneven = uneven});
                INFO("tp " << tp << " dp " << dp);
                for (const int steps : {1, 2, 3})
                    CHECK(replays(job.program, job.binding, recording_some(steps), refusals));
                const GridJob slowed = grid_job({.tp = tp,
                                                 .pp = 1 + dp % 4,
                                                 .dp = dp,
                                                 .micro_batches = 5,
                                                 .uneven = uneven,
                                                 .sm_share = full_share / 8,
                                                 .traffic_share = full_share / 3,
                                                 .free_messages = true});
                CHECK(replays(slowed.program, slowed.binding, recording_some(2), refusals));
            }
    CHECK(refusals.empty());
}
