// What follows from where stages lie: tied embeddings, twins, memory, messages.

#include "sim/strategy/memory.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using enum CollectiveKind;

Job job_with(const std::string& schedule, int vpp, bool tied = false, int dp = 1, int zero = 0)
{
    Strategy strategy;
    strategy.pp = 4;
    strategy.vpp = vpp;
    strategy.dp = dp;
    strategy.zero = zero;
    strategy.schedule = schedule;
    Model model = small_decoder(); // 8 layers
    std::get<Transformer>(model.architecture).tied_embeddings = tied;
    return job_of(model, strategy, training_of(8 * dp));
}

Bytes parameters_of(const Job& job, int stage)
{
    const MemoryEstimate estimate = estimate_memory(job, {});
    return estimate.stages[static_cast<std::size_t>(stage)].kinds.at("parameters");
}

// Sends of activations and gradients of a stage in a step.
int sends(const Plan& plan, int stage)
{
    int count = 0;
    for_each_op(plan.program, plan.program.roles[static_cast<std::size_t>(stage)],
                [&](const Block& block, const Op& op, const BlockUse& use) {
                    for (std::size_t i = 0; i < op.part_count; ++i)
                        count += block.parts[op.part_first + i].direction == Direction::send &&
                                 use.micro_batch != BlockUse::no_index;
                });
    return count;
}

} // namespace

TEST_CASE("tied embeddings are summed only where look-up and head lie apart")
{
    for (const char* schedule : {"1f1b", "zb-h1", "zb-h2"}) {
        const Plan plan = make_plan(job_with(schedule, 1, true));
        for (const int stage : {0, 3})
            CHECK(volume(plan, stage, all_reduce, GroupKind::embedding).count == 1);
        CHECK(volume(plan, 1, all_reduce, GroupKind::embedding).count == 0);
    }
    for (const auto& [schedule, vpp] : {std::pair("zb-v", 2), std::pair("dualpipe", 1)}) {
        const Plan plan = make_plan(job_with(schedule, vpp, true));
        for (int stage = 0; stage < 4; ++stage)
            CHECK(volume(plan, stage, all_reduce, GroupKind::embedding).count == 0);
    }
}

TEST_CASE("twins add up the gradients of all their parameters, of their shards with ZeRO")
{
    for (const int dp : {1, 2})
        for (const int zero : {0, 1}) {
            const Job job = job_with("dualpipe", 1, false, dp, zero);
            const Plan plan = make_plan(job);
            for (int stage = 0; stage < 4; ++stage) {
                double parameters = 0;
                const JobWork work = job_work(job);
                for (const PlacedLayer& layer : layers_of_stage(work, placement_of(job), stage))
                    parameters += work.kinds[layer.kind].held.parameters.dense;
                const double held = parameters / (zero > 0 ? dp : 1);
                const double bytes = *job.training.fp32_gradients ? 4 : 2;
                CHECK(volume(plan, stage, all_reduce, GroupKind::twin).bytes ==
                      Approx(bytes * held).epsilon(1e-6));
            }
        }
}

TEST_CASE("DualPipe holds two stages' parameters on every device, ZB-V the two ends of a fold")
{
    const Job plain = job_with("1f1b", 1);
    const Job dual = job_with("dualpipe", 1);
    for (int stage = 0; stage < 4; ++stage)
        CHECK(parameters_of(dual, stage) ==
              parameters_of(plain, stage) + parameters_of(plain, 3 - stage));
    // Eight virtual stages of a layer each: the first device has the first and the last.
    const Job folded = job_with("zb-v", 2);
    Bytes all;
    Bytes whole;
    for (int stage = 0; stage < 4; ++stage) {
        all += parameters_of(folded, stage);
        whole += parameters_of(plain, stage);
    }
    CHECK(all == whole);
    CHECK(parameters_of(folded, 0) > parameters_of(folded, 1));
    CHECK(parameters_of(folded, 1) == parameters_of(folded, 3));
}

TEST_CASE("the turn of a fold needs no message")
{
    // 8 micro-batches over 7 boundaries both ways, of which the turn stays on the last device.
    const Plan folded = make_plan(job_with("zb-v", 2));
    CHECK(sends(folded, 3) == 8 * 2);
    CHECK(sends(folded, 0) == 8 * 2);
    CHECK(sends(folded, 1) == 8 * 4);
    // Half the micro-batches each way over 3 boundaries.
    const Plan dual = make_plan(job_with("dualpipe", 1));
    CHECK(sends(dual, 0) == 8);
    CHECK(sends(dual, 1) == 2 * 8);
}

TEST_CASE("layers go by what they are: the embedding, the model's layers from 1 on, the head")
{
    const Plan plan = make_plan(job_with("1f1b", 1));
    const auto name = [&](int layer) { return layer_name(plan.program, layer); };
    CHECK(name(0) == "embedding");
    CHECK(name(1) == "layer 1");
    CHECK(name(8) == "layer 8");
    CHECK(name(9) == "head");
    CHECK(plan.program.layers.size() == 10);
    CHECK(name(10) == "layer 10"); // of no layer that the program knows
    // The last stage holds most of its logits: said as the head, never as a ninth layer.
    const PeakPlace place = estimate_memory(job_with("1f1b", 1), {}).stages[3].place;
    REQUIRE(place.layer.has_value());
    CHECK(place.layer_name == name(*place.layer));
    // A layer that predicts further lies between them.
    Model model = small_decoder();
    std::get<Transformer>(model.architecture).prediction_layers = 1;
    const Plan predicting = make_plan(job_of(model, {}, training_of(8)));
    CHECK(layer_name(predicting.program, 9) == "layer 9");
    CHECK(layer_name(predicting.program, 10) == "head");
}
