// The engine against the naive engine: every time of every op of thousands of random programs. The
// event engine against the reference engine: all results.

#include "tests/support/flaws.h"
#include "tests/support/grid_job.h"
#include "tests/support/naive_engine.h"
#include "tests/support/random_scene.h"

#include <algorithm>
#include <map>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// The engine's records in the naive engine's order: by lane, step, place in issue order.
std::vector<std::vector<NaiveTimes>> times_of(const Program& program, const Binding& binding,
                                              const StepResult& result)
{
    std::vector<std::map<std::pair<int, StreamId>, std::vector<NaiveTimes>>> by_stream(
        binding.lanes.size());
    for (const OpRecord& op : result.records)
        by_stream[op.lane.value][{op.step, op.stream}].push_back(
            {op.issued, op.start, op.transfer_start, op.end});
    std::vector<std::vector<NaiveTimes>> times;
    const auto steps = static_cast<int>(result.step_ends.size());
    for (std::size_t l = 0; l < binding.lanes.size(); ++l) {
        auto& of_lane = times.emplace_back();
        for (int step = 0; step < steps; ++step) {
            std::map<StreamId, std::size_t> next;
            for (const BlockUse& use : program.roles[binding.lanes[l].role.value].order)
                for (const Op& op : program.blocks[use.block.value].ops)
                    of_lane.push_back(by_stream[l][{step, op.stream}].at(next[op.stream]++));
        }
    }
    return times;
}

void compare(const Program& program, const Binding& binding, int steps, Fidelity fidelity)
{
    RunControl control;
    control.steps = steps;
    control.fidelity = fidelity;
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    const auto result = run_reference(program, binding, control);
    const NaiveResult naive = run_naively(program, binding, steps, fidelity);
    auto fast = run_event(program, binding, control);
    INFO((result ? std::string("ran") : render(result.error(), "")));
    REQUIRE(result.has_value() == naive.finished);
    REQUIRE(result.has_value() == fast.has_value());
    if (!result) {
        CHECK(render(fast.error(), "") == render(result.error(), ""));
        return;
    }
    fast->events = result->events;
    const bool same = *fast == *result;
    REQUIRE(same);
    const bool equal = times_of(program, binding, *result) == naive.times;
    REQUIRE(equal);
    // Compute ops in a row may be one event where nobody records them.
    control.record = {};
    auto unrecorded = run_event(program, binding, control);
    REQUIRE(unrecorded.has_value());
    unrecorded->events = fast->events;
    fast->records.clear();
    const bool same_unrecorded = *unrecorded == *fast;
    REQUIRE(same_unrecorded);

    // The time of every lane is accounted for, to the picosecond.
    for (const LaneTotals& lane : result->lanes)
        REQUIRE(time_sum(lane) == result->step_time.value());
}

void compare_random(const RandomTraits& traits, Fidelity fidelity, std::uint64_t seeds)
{
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        RandomScene random(seed, traits);
        Scene& scene = random.scene();
        scene.bind_roles();
        INFO("seed " << seed);
        REQUIRE(flaws(scene.program).empty());
        REQUIRE(flaws(scene.program, scene.binding).empty());
        compare(scene.program, scene.binding, 1 + static_cast<int>(seed % 3), fidelity);
    }
}

} // namespace

TEST_CASE("random programs without sharing run as the naive engine says")
{
    compare_random({}, Fidelity::alpha_beta, 3000);
}

TEST_CASE("random programs with interference run as the naive engine says")
{
    compare_random({.interference = true}, Fidelity::alpha_beta, 1500);
}

TEST_CASE("random programs on shared links run as the naive engine says")
{
    compare_random({.links = true}, Fidelity::bundle, 1500);
}

TEST_CASE("random programs with shared links and interference run as the naive engine says")
{
    compare_random({.interference = true, .links = true}, Fidelity::bundle, 1500);
}

TEST_CASE("random programs under windows, jitter and lateness run as the naive engine says")
{
    compare_random({.conditions = true}, Fidelity::alpha_beta, 1500);
    compare_random({.interference = true, .links = true, .conditions = true}, Fidelity::bundle,
                   1000);
}

TEST_CASE("random programs whose collectives go step by step run as the naive engine says")
{
    const RandomTraits disturbed{
        .interference = true, .links = true, .conditions = true, .hops = true};
    compare_random({.links = true, .hops = true}, Fidelity::flow, 700);
    compare_random(disturbed, Fidelity::flow, 300);
    // The naive engine looks at every chunk of a tree at every instant.
    compare_random({.links = true, .hops = true}, Fidelity::chunk, 100);
    compare_random(disturbed, Fidelity::chunk, 50);
}

TEST_CASE("random programs in which ranks hang or die come to rest alike in both engines")
{
    int stuck = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        INFO("seed " << seed);
        RandomScene random(seed, {.interference = seed % 2 == 0, .links = true});
        Scene& scene = random.scene();
        scene.bind_roles();
        Random draw(hash_key(seed, 2));
        scene.binding.costs.launch_queue = static_cast<std::uint32_t>(draw.integer(0, 6));
        for (Lane& lane : scene.binding.lanes)
            if (draw.uniform() < 0.5)
                lane.stop = {SimTime(draw.integer(0, 800)),
                             draw.uniform() < 0.7 ? StopKind::hangs : StopKind::dies};
        RunControl control;
        control.fidelity = Fidelity::bundle;
        const auto reference = run_reference(scene.program, scene.binding, control);
        auto event = run_event(scene.program, scene.binding, control);
        REQUIRE(reference.has_value() == event.has_value());
        if (!reference) {
            ++stuck;
            REQUIRE(render(event.error(), "") == render(reference.error(), ""));
            continue;
        }
        event->events = reference->events;
        const bool same = *event == *reference;
        REQUIRE(same);
    }
    CHECK(stuck > 500);
}

TEST_CASE("what slows a rank of a random program never makes it end earlier")
{
    // Without sharing and interference all times are sums and maxima of durations.
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        RandomScene random(seed, {});
        Scene& scene = random.scene();
        scene.bind_roles();
        const auto before = run_reference(scene.program, scene.binding, {});
        REQUIRE(before);
        Random draw(hash_key(seed, 3));
        Lane& lane = scene.binding.lanes[seed % scene.binding.lanes.size()];
        const SimTime begin(draw.integer(0, 500));
        lane.windows = {{begin, begin + SimTime(draw.integer(1, 500)),
                         static_cast<std::uint32_t>(draw.integer(1, full_share))}};
        lane.late = {SimTime(draw.integer(0, 50)), SimTime(draw.integer(0, 50))};
        const auto after = run_reference(scene.program, scene.binding, {});
        INFO("seed " << seed);
        REQUIRE(after);
        for (std::size_t l = 0; l < before->lane_ends.size(); ++l)
            CHECK(after->lane_ends[l] >= before->lane_ends[l]);
    }
}

TEST_CASE("programs whose ranks disagree about the order stick exactly when the naive engine's do")
{
    int stuck = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        RandomScene random(seed, {.actions = 12});
        Scene& scene = random.scene();
        scene.bind_roles();
        // Two neighbouring ops of one lane change places.
        Random swap(hash_key(seed, 2));
        auto& ops = scene.program.blocks[0].ops;
        if (ops.size() < 2)
            continue;
        const auto i =
            static_cast<std::size_t>(swap.integer(0, static_cast<std::int64_t>(ops.size()) - 2));
        std::swap(ops[i], ops[i + 1]);
        INFO("seed " << seed);
        compare(scene.program, scene.binding, 2, Fidelity::alpha_beta);
        stuck +=
            run_naively(scene.program, scene.binding, 2, Fidelity::alpha_beta).finished ? 0 : 1;
    }
    CHECK(stuck > 20); // the case is met
    CHECK(stuck < 500);
}

TEST_CASE("grid jobs run as the naive engine says")
{
    // Blocks used many times, roles shared by lanes, odd sizes.
    for (const GridShape& shape :
         {GridShape{.tp = 2, .pp = 2, .dp = 2, .layers = 1, .micro_batches = 3, .uneven = true},
          GridShape{.tp = 1, .pp = 3, .dp = 2, .layers = 2, .micro_batches = 4},
          GridShape{.tp = 3,
          .pp = 2,
          .dp = 1,
          .layers = 1,
          .micro_batches = 3,
          .uneven = true,
          .sm_share = full_share / 8,
          .traffic_share = full_share / 3}})
    {
        const GridJob job = grid_job(shape);
        compare(job.program, job.binding, 2, Fidelity::alpha_beta);
    }
}
