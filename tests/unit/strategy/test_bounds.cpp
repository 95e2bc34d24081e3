// What the bounds of a step are made of. That they hold is a random law (tests/property).

#include "sim/strategy/bound/pass_order.h"
#include "sim/strategy/bound/step_bound.h"
#include "sim/strategy/bound/turns.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("1F1B keeps as many micro-batches as there are stages from this one to the last")
{
    const PassOrder order = pass_order(*find_schedule("1f1b"), {.stages = 4, .micro_batches = 100});
    REQUIRE(order.refusal.empty());
    CHECK_FALSE(order.splits);
    CHECK_FALSE(order.in_turns);
    for (int device = 0; device < 4; ++device)
        CHECK(order.devices[to_size(device)].kept == std::vector<int>{4 - device});
}

TEST_CASE("a schedule that cannot run a shape says why in place of an order")
{
    const PassOrder order = pass_order(*find_schedule("interleaved-1f1b"),
                                       {.stages = 4, .chunks = 2, .micro_batches = 6});
    CHECK_FALSE(order.refusal.empty());
    CHECK(order.devices.empty());
}

TEST_CASE("a long schedule is its last micro-batches and the periods before them")
{
    for (const char* name : {"interleaved-1f1b", "dualpipe", "dualpipev"})
        for (const int micro_batches : {12, 16, 40, 64, 100}) {
            INFO(name << ", " << micro_batches);
            const PipelineSchedule& schedule = *find_schedule(name);
            const PipelineShape shape{.stages = 4,
                                      .chunks = name == std::string("dualpipe") ? 1 : 2,
                                      .micro_batches = micro_batches,
                                      .in_turns = true};
            const PassOrder order = pass_order(schedule, shape);
            REQUIRE(order.refusal.empty());
            CHECK(order.in_turns);
            CHECK((order.periods > 0) == (micro_batches > 16));
            for (int device = 0; device < 4; ++device) {
                // Forward passes by the chunk whose backward pass they run beside, none: alone.
                std::map<std::pair<int, int>, int> all;
                const std::vector<Pass> passes = schedule.passes(shape, device);
                for (std::size_t i = 0; i < passes.size(); ++i) {
                    const bool pair =
                        passes[i].with_next && passes[i + 1].kind == PassKind::backward;
                    if (passes[i].kind == PassKind::forward)
                        ++all[{passes[i].chunk, pair ? passes[i + 1].chunk : -1}];
                }
                std::map<std::pair<int, int>, int> counted;
                const DeviceOrder& own = order.devices[to_size(device)];
                const auto add = [&](const PassCounts& counts, int times) {
                    for (std::size_t chunk = 0; chunk < counts.alone.size(); ++chunk)
                        counted[{static_cast<int>(chunk), -1}] +=
                            times *
                            counts.alone[chunk][static_cast<std::size_t>(PassKind::forward)];
                    for (const PassPairs& pair : counts.pairs)
                        counted[{pair.forward, pair.backward}] += times * pair.count;
                };
                add(own.passes, 1);
                add(own.period, order.periods);
                std::erase_if(counted, [](const auto& entry) { return entry.second == 0; });
                CHECK(counted == all);
            }
        }
}

TEST_CASE("layers that take turns take as long as their chains multiplied out")
{
    const Seconds none(-std::numeric_limits<double>::infinity());
    TurnChains layer;
    layer.from = {{{Seconds(3), Seconds(5), Seconds(4), none},
                   {Seconds(2), Seconds(4), none, Seconds(1)},
                   {Seconds(3), none, Seconds(2), none},
                   {Seconds(1), Seconds(3), none, Seconds(2)}}};
    TurnChains product = layer;
    for (int layers = 1; layers <= 40; ++layers) {
        CHECK(layer.repeated(layers) == product);
        product = product * layer;
    }
    // In the long run the best cycle counts: compute to exchanges and back takes 7 in two layers,
    // the exchanges alone 4 in one.
    CHECK(layer.repeated(101).over(TurnState::compute) -
              layer.repeated(100).over(TurnState::compute) ==
          Seconds(4));
}

TEST_CASE("the bound of a job without communication is its step")
{
    // One device, one micro-batch: kernels, optimizer and host follow each other.
    Strategy alone;
    alone.dp = 1;
    Training training = training_of(8);
    training.micro_batch = 8; // more for the device than for the host
    const Job job = job_of(small_decoder(), alone, training);
    const StepBound bound = step_bound(job, h100_nodes(1), h100_costs(), {});
    CHECK(bound.time <= step_time(job));
    CHECK(bound.time > step_time(job) * 0.97);
}

TEST_CASE("more layers that are recomputed take longer and keep less at the least")
{
    Strategy staged;
    staged.pp = 2;
    staged.dp = 1;
    Training training = training_of(8);
    training.recompute = Recompute::full;
    StepBound before{Seconds(0), Bytes(std::numeric_limits<std::uint64_t>::max())};
    for (int layers = 1; layers <= 4; ++layers) {
        training.recompute_layers = layers;
        const StepBound bound =
            step_bound(job_of(small_decoder(), staged, training), h100_nodes(1), h100_costs(), {});
        CHECK(bound.time > before.time);
        CHECK(bound.memory < before.memory);
        before = bound;
    }
}

TEST_CASE("prediction layers are not among the layers of a device that are recomputed")
{
    Model model = small_decoder();
    std::get<Transformer>(model.architecture).prediction_layers = 1;
    Strategy staged;
    staged.pp = 4;
    staged.dp = 1;
    staged.stage_layers = {2, 2, 2, 2};
    staged.stage_layers.front() = 3;
    staged.stage_layers.back() = 1; // and the prediction layer
    Training training = training_of(64);
    training.recompute = Recompute::full;
    training.recompute_layers = 2;
    const Job job = job_of(model, staged, training);
    CHECK(step_bound(job, h100_nodes(1), h100_costs(), {}).time <= step_time(job));
}
