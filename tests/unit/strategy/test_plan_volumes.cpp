// Bytes that a rank hands to each kind of communication in a step, against closed forms.

#include "sim/strategy/model_states.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

using enum CollectiveKind;

} // namespace

TEST_CASE("DDP all-reduces every gradient once per step, however many micro-batches")
{
    Strategy strategy;
    strategy.dp = 4;
    strategy.overlap.dp = GENERATE(false, true);
    Training training = training_of(4 * GENERATE(1, 3));
    training.fp32_gradients = true;
    const Job job = job_of(small_decoder(), strategy, training);
    const Volume sum = volume(make_plan(job), 0, all_reduce, GroupKind::dp);
    CHECK(sum.bytes == Approx(4 * stage_parameters(job).dense).epsilon(1e-9));
}

TEST_CASE("DDP's buckets hold whole tensors: the first of 1 MiB or more, the others of 25, a rest")
{
    Strategy strategy;
    strategy.dp = 2;
    strategy.overlap.dp = true;
    Training training = training_of(2);
    training.fp32_gradients = true;
    const Job job = job_of(small_decoder(), strategy, training);
    const Plan plan = make_plan(job);
    std::vector<double> sizes;
    for_each_op(
        plan.program, plan.program.roles[0], [&](const Block&, const Op& op, const BlockUse&) {
            if (op.kind == OpKind::collective)
                sizes.push_back(static_cast<double>(plan.transfers[op.cost.value].bytes.value()));
        });
    REQUIRE(sizes.size() > 4);
    constexpr double cap = 25 << 20;
    CHECK(sizes.front() >= 1 << 20);
    for (std::size_t i = 1; i + 1 < sizes.size(); ++i)
        CHECK(sizes[i] >= cap);
    CHECK_THAT(std::accumulate(sizes.begin(), sizes.end(), 0.0),
               WithinRel(4 * stage_parameters(job).dense, 1e-6));
    // Buckets of any size end where a tensor does: each is the sum of some of the smallest cut's.
    Strategy tiny = strategy;
    tiny.first_bucket = tiny.bucket_cap = Bytes(1);
    const Plan by_tensor = make_plan(job_of(small_decoder(), tiny, training));
    std::vector<double> ends{0};
    for_each_op(by_tensor.program, by_tensor.program.roles[0],
                [&](const Block&, const Op& op, const BlockUse&) {
                    if (op.kind == OpKind::collective)
                        ends.push_back(
                            ends.back() +
                            static_cast<double>(by_tensor.transfers[op.cost.value].bytes.value()));
                });
    double end = 0;
    for (const double size : sizes) {
        end += size;
        CHECK(std::ranges::any_of(ends, [&](double one) { return std::abs(one - end) < 100; }));
    }
}

TEST_CASE(
    "the distributed optimizer reduce-scatters gradients and gathers parameters once per step")
{
    Strategy strategy;
    strategy.dp = 4;
    strategy.zero = 1;
    strategy.overlap.dp = GENERATE(false, true);
    Training training = training_of(8);
    training.fp32_gradients = true;
    const Job job = job_of(small_decoder(), strategy, training);
    const Plan plan = make_plan(job);
    CHECK(volume(plan, 0, reduce_scatter, GroupKind::dp).bytes ==
          Approx(4 * stage_parameters(job).dense).epsilon(1e-9));
    CHECK(volume(plan, 0, all_gather, GroupKind::dp).bytes ==
          Approx(2 * stage_parameters(job).dense).epsilon(1e-9));
}

TEST_CASE("FSDP gathers a layer twice per micro-batch and reduces its gradients once")
{
    // Embedding and head stay gathered between forward and backward, and so does the last layer
    // when nothing comes between; layers kept after forward are gathered once.
    Strategy strategy;
    strategy.dp = 4;
    strategy.zero = 3;
    strategy.prefetch = GENERATE(0, 1, 3);
    strategy.reshard_after_forward = GENERATE(true, false);
    Training training = training_of(4 * 3);
    training.fp32_gradients = true;
    const Job job = job_of(small_decoder(), strategy, training);
    const Plan plan = make_plan(job);
    const double all = stage_parameters(job).dense;
    double layers = 0;
    const JobWork work = job_work(job);
    for (const PlacedLayer& layer : layers_of_stage(work, placement_of(job), 0))
        if (!work.kinds[layer.kind].held.in_root_unit())
            layers += work.kinds[layer.kind].held.parameters.dense;
    const double again = *strategy.reshard_after_forward ? layers : 0;
    CHECK(volume(plan, 0, all_gather, GroupKind::dp).bytes ==
          Approx(3 * 2 * (all + again)).epsilon(1e-9));
    CHECK(volume(plan, 0, reduce_scatter, GroupKind::dp).bytes ==
          Approx(3 * 4 * all).epsilon(1e-9));
}

TEST_CASE("tensor parallelism all-reduces s b h W bytes four times per layer and micro-batch")
{
    // Shoeybi 2019: two forward, two backward; the embedding adds one forward, the head one
    // backward. With sequence parallelism (Korthikanti 2022) each becomes an all-gather and a
    // reduce-scatter, and backward gathers both inputs once more.
    Strategy strategy;
    strategy.tp = 4;
    strategy.sequence_parallel = GENERATE(false, true);
    strategy.overlap.tp = GENERATE(false, true);
    const Job job = job_of(small_decoder(), strategy, training_of(3));
    const Plan plan = make_plan(job);
    const double tensor = 2.0 * 1024 * 1024;
    const double layers = 8 * 3;
    const double reduced = volume(plan, 0, all_reduce, GroupKind::tp).bytes / tensor;
    const double gathered = volume(plan, 0, all_gather, GroupKind::tp).bytes / tensor;
    const double scattered = volume(plan, 0, reduce_scatter, GroupKind::tp).bytes / tensor;
    if (*strategy.sequence_parallel) {
        CHECK(gathered >= 6 * layers);
        CHECK(gathered <= 6 * layers + 3 * 3);
        CHECK(scattered >= 4 * layers);
        CHECK(scattered <= 4 * layers + 3 * 3);
    } else {
        CHECK(reduced >= 4 * layers);
        CHECK(reduced <= 4 * layers + 3 * 3);
        CHECK(gathered + scattered == 0);
    }
}

TEST_CASE("expert gradients are reduced over expert-DP, the rest over DP x CP")
{
    Strategy strategy;
    strategy.dp = 8;
    strategy.ep = 4;
    strategy.zero = GENERATE(0, 1, 3);
    strategy.overlap.dp = true;
    Training training = training_of(8);
    training.fp32_gradients = true;
    const Job job = job_of(small_mixture(), strategy, training);
    const Plan plan = make_plan(job);
    const CollectiveKind kind = strategy.zero == 0 ? all_reduce : reduce_scatter;
    CHECK(volume(plan, 0, kind, GroupKind::dp).bytes ==
          Approx(4 * stage_parameters(job).dense).epsilon(1e-9));
    CHECK(volume(plan, 0, kind, GroupKind::edp).bytes ==
          Approx(4 * stage_parameters(job).expert).epsilon(1e-9));
    // Two of eight experts' worth of tokens live on a rank: dispatch and combine, each way.
    CHECK(volume(plan, 0, CollectiveKind::all_to_all, GroupKind::ep).count == 4 * 8);
}

TEST_CASE("tied embeddings are reduced between the first and the last stage")
{
    Model model = small_decoder();
    std::get<Transformer>(model.architecture).tied_embeddings = true;
    Strategy strategy;
    strategy.pp = 4;
    Training training = training_of(4);
    training.fp32_gradients = true;
    const Plan plan = make_plan(job_of(model, strategy, training));
    for (const int stage : {0, 3})
        CHECK(volume(plan, stage, all_reduce, GroupKind::embedding).bytes == 8192.0 * 1024 * 4);
    for (const int stage : {1, 2})
        CHECK(volume(plan, stage, all_reduce, GroupKind::embedding).count == 0);
}

TEST_CASE("operations of a listed layer have its name, whatever it is")
{
    // A dense layer is a product and passes over memory, as a convolution is.
    const NativeLayer dense{.name = "fc",
                            .repeat = 2,
                            .parameters = 1 << 20,
                            .rows = 1,
                            .columns = 1024,
                            .inner = 1024,
                            .output_elements = 1024,
                            .activation_elements = 1024};
    const Job job = job_of({"perceptron", LayerList{{dense}, 1024}}, {}, training_of(64));
    const Plan plan = make_plan(job);
    std::set<std::string> names;
    for_each_op(plan.program, plan.program.roles[0],
                [&](const Block&, const Op& op, const BlockUse&) {
                    const Label& label = plan.program.labels[op.label.value];
                    if (op.kind == OpKind::compute &&
                        (label.phase == Phase::forward || label.phase == Phase::backward))
                        names.insert(label.name);
                });
    CHECK(names == std::set<std::string>{"fc"});
}
