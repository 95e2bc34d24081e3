#include "sim/strategy/memory.h"
#include "tests/catch.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

// Parameters and nothing else: what ZeRO counts.
JobRequest parameters_only(std::int64_t parameters, int devices)
{
    JobRequest request;
    request.model = {"", LayerList{{NativeLayer{.name = "all", .parameters = parameters}}, 1}};
    request.training.global_batch = devices;
    request.training.fp32_gradients = false;
    request.devices = devices;
    return request;
}

// The 22B GPT of Korthikanti 2022, table 3, with the kernels of its time.
JobRequest gpt_22b()
{
    Transformer t;
    t.hidden = 6144;
    t.layers = 48;
    t.heads = 64;
    t.kv_heads = 64;
    t.head_dim = 96;
    t.ffn = 4 * 6144;
    t.vocabulary = 51200;
    t.max_positions = 2048;
    t.gated_mlp = false;
    t.linear_bias = true;
    t.dropout = true;
    t.norm = NormKind::layer_norm;
    t.position = PositionKind::learned;
    t.activation = Activation::gelu;
    JobRequest request;
    request.model = {"gpt-22b", t};
    request.training.sequence_length = 2048;
    request.training.global_batch = 4 * 16;
    request.training.micro_batch = 4;
    request.strategy.tp = 8;
    request.strategy.sequence_parallel = true;
    request.software.kernels.attention = AttentionKernel::unfused;
    request.devices = 8;
    return request;
}

// s b h of that model and its micro-batch.
constexpr double sbh = 2048.0 * 4 * 6144;

StageMemory stage_of(const JobRequest& request, std::size_t stage = 0)
{
    const Checked<Job> job = resolve(request);
    REQUIRE(job);
    const MemoryEstimate estimate = estimate_memory(*job, {});
    REQUIRE(estimate.stages.size() > stage);
    return estimate.stages[stage];
}

double kind(const StageMemory& memory, const char* name)
{
    const auto found = memory.kinds.find(name);
    return found == memory.kinds.end() ? 0 : static_cast<double>(found->second.value());
}

double states(const StageMemory& memory)
{
    return kind(memory, "parameters") + kind(memory, "gradients") + kind(memory, "optimizer");
}

} // namespace

TEST_CASE("Adam in mixed precision holds 16 bytes per parameter, 18 with fp32 gradients")
{
    JobRequest request = parameters_only(7'000'000'000, 1);
    CHECK(states(stage_of(request)) == 112e9);
    request.training.fp32_gradients = true;
    CHECK(states(stage_of(request)) == 126e9);
    // fp32 throughout: parameters, gradients and two moments of 4 bytes.
    request.training.precision = Precision::fp32;
    CHECK(states(stage_of(request)) == 112e9);
    request.training.optimizer = Optimizer::sgd;
    CHECK(states(stage_of(request)) == 84e9);
}

TEST_CASE("ZeRO's stages hold what its paper says")
{
    // Rajbhandari 2020, figure 1: 7.5 B parameters on 64 devices: 120, 31.4 and 1.9 GB.
    JobRequest request = parameters_only(7'500'000'000, 64);
    CHECK(states(stage_of(request)) == 120e9);
    request.strategy.zero = 1;
    CHECK(states(stage_of(request)) == 4 * 7.5e9 + 12 * 7.5e9 / 64);
    request.strategy.zero = 3;
    CHECK(states(stage_of(request)) == 16 * 7.5e9 / 64);
}

TEST_CASE("DDP holds gradients twice when it copies them into buckets")
{
    JobRequest request = parameters_only(1'000'000'000, 8);
    const Bytes once = stage_of(request).allocated();
    request.software.copies_into_buckets = true;
    CHECK(stage_of(request).allocated() - once == 2_GB);
    request.devices = 1; // nothing to reduce
    request.training.global_batch = 1;
    CHECK(stage_of(request).allocated() == once);
}

TEST_CASE("the stages of a pipeline hold the model's parameters once")
{
    JobRequest request = gpt_22b();
    request.devices = 32;
    request.strategy.pp = 4;
    const double total = count_parameters(request.model).total;
    const auto parameters = [&] {
        double sum = 0;
        for (std::size_t stage = 0; stage < 4; ++stage)
            sum += kind(stage_of(request, stage), "parameters") / 2;
        return 8 * sum;
    };
    // Norms, biases after a row cut and positions are held by all 8 tensor-parallel ranks.
    const double replicated = 7 * (48 * 6.0 + 2 + 2048) * 6144;
    CHECK_THAT(parameters(), WithinRel(total + replicated, 1e-3));

    const double untied = parameters();
    std::get<Transformer>(request.model.architecture).tied_embeddings = true;
    // Both ends hold the shared matrix.
    CHECK(parameters() == untied);
    request.strategy.pp = 1;
    request.devices = 8;
    CHECK(kind(stage_of(request), "parameters") / 2 * 8 < untied - 0.99 * 51200 * 6144);
}

TEST_CASE("activations are those of Korthikanti's table of formulas")
{
    // Table 2: per layer s b h (34 + 5 a s / h) / t with sequence parallelism; 34 with selective
    // recompute; 2 with full recompute. 48 layers and one micro-batch in flight.
    JobRequest request = gpt_22b();
    const double square = 5.0 * 64 * 2048 / 6144;
    CHECK_THAT(kind(stage_of(request), "activations"),
               WithinRel(48 * sbh * (34 + square) / 8, 0.01));
    request.training.recompute = Recompute::selective;
    CHECK_THAT(kind(stage_of(request), "activations"), WithinRel(48 * sbh * 34 / 8, 0.01));
    request.training.recompute = Recompute::full;
    CHECK_THAT(kind(stage_of(request), "activations"), WithinRel(48 * sbh * 2 / 8, 0.02));
    // Without sequence parallelism: 10 + 24 / t + 5 a s / (h t).
    request.training.recompute = Recompute::none;
    request.strategy.sequence_parallel = false;
    CHECK_THAT(kind(stage_of(request), "activations"),
               WithinRel(48 * sbh * (10 + 24.0 / 8 + square / 8), 0.01));
}

TEST_CASE(
    "the first stage of 1F1B keeps as much as a whole replica, whatever the pipeline's length")
{
    // p micro-batches in flight of l / p layers each (Korthikanti 2022, section 4.2.3).
    JobRequest request = gpt_22b();
    const double whole = kind(stage_of(request), "activations");
    for (const int pp : {2, 4, 8}) {
        request.strategy.pp = pp;
        request.devices = 8 * pp;
        CAPTURE(pp);
        CHECK_THAT(kind(stage_of(request), "activations"), WithinRel(whole, 0.01));
        const auto last = static_cast<std::size_t>(pp - 1);
        CHECK_THAT(kind(stage_of(request, last), "activations"), WithinRel(whole / pp, 0.01));
    }
}

TEST_CASE("interleaving keeps 1 + (p - 1) / (p v) times as much on the first stage")
{
    // Korthikanti 2022, section 4.2.3.
    JobRequest request = gpt_22b();
    request.strategy.pp = 4;
    request.devices = 32;
    const double plain = kind(stage_of(request), "activations");
    request.strategy.vpp = 3;
    CHECK_THAT(kind(stage_of(request), "activations"),
               WithinRel(plain * (1 + 3.0 / (4 * 3)), 0.01));
}

TEST_CASE("GPipe keeps every micro-batch, on the last stage their logits too")
{
    JobRequest request = gpt_22b();
    request.strategy.pp = 4;
    request.devices = 32;
    const double plain = kind(stage_of(request), "activations");
    const double logits = kind(stage_of(request, 3), "logits");
    request.strategy.schedule = "gpipe"; // 16 micro-batches rather than 4
    CHECK_THAT(kind(stage_of(request), "activations"), WithinRel(4 * plain, 0.01));
    CHECK(kind(stage_of(request, 3), "logits") > 8 * logits);
}

TEST_CASE("each layer recomputed in full saves the same")
{
    JobRequest request = gpt_22b();
    request.training.recompute = Recompute::full;
    std::vector<double> kept;
    for (const int layers : {0, 12, 24, 48}) {
        request.training.recompute_layers = layers;
        kept.push_back(kind(stage_of(request), "activations"));
    }
    CHECK_THAT(kept[0] - kept[1], WithinRel(kept[1] - kept[2], 1e-9));
    CHECK_THAT(kept[0] - kept[2], WithinRel(kept[2] - kept[3], 1e-9));
    CHECK(kept[3] < kept[0] / 10);
}

TEST_CASE("FSDP holds the layer at work and those fetched ahead whole")
{
    JobRequest request = gpt_22b();
    request.strategy.tp = 1;
    request.strategy.sequence_parallel = false;
    request.strategy.zero = 3;
    request.training.micro_batch = 1;
    const auto unsharded = [&] { return kind(stage_of(request), "unsharded"); };
    const double layer = 2.0 * (12.0 * 6144 * 6144 + 13 * 6144); // bytes, with biases and norms
    request.strategy.prefetch = 0;
    const double one = unsharded();
    request.strategy.prefetch = 1;
    CHECK_THAT(unsharded() - one, WithinRel(layer, 1e-3));
    request.strategy.reshard_after_forward = false;
    CHECK_THAT(unsharded() - one, WithinRel(47 * layer, 1e-3));
    request.strategy.dp = 1; // nothing is sharded, nothing gathered
    CHECK(unsharded() == 0);
}

TEST_CASE("expert states are sharded over the replicas of an expert only")
{
    Transformer t = std::get<Transformer>(gpt_22b().model.architecture);
    t.moe = MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 24576};
    JobRequest request = gpt_22b();
    request.model.architecture = t;
    request.strategy.tp = 1;
    request.strategy.sequence_parallel = false;
    request.strategy.zero = 1;
    request.strategy.ep = 8; // every expert once: nothing to shard its 12 bytes over
    request.training.micro_batch = 1;
    const StageMemory memory = stage_of(request);
    const double experts = 48.0 * (2.0 * 6144 * 24576 + 24576 + 6144);
    const double dense = kind(memory, "parameters") / 2 - experts;
    CHECK_THAT(kind(memory, "optimizer"), WithinRel(12 * (experts + dense / 8), 1e-3));
}

TEST_CASE("what does not fit says by how much")
{
    const Job job = resolve(gpt_22b()).value();
    const DeviceMemory device{.capacity = 80_GB, .context = 1_GB, .per_communicator = 100_MiB};
    const MemoryEstimate estimate = estimate_memory(job, device);
    CHECK_FALSE(estimate.fits());
    CHECK(estimate.headroom() ==
          80'000'000'000 - static_cast<std::int64_t>(estimate.peak().value()));
    const MemoryEstimate bare = estimate_memory(job, {.capacity = 80_GB});
    // One communicator: tensor parallel; there is one replica and no pipeline.
    CHECK(estimate.peak() - bare.peak() == 1_GB + 100_MiB);
    CHECK(estimate.stages[0].allocated() == bare.stages[0].allocated());
    CHECK(estimate_memory(job, {.capacity = 1000_GB}).fits());
}

TEST_CASE("what does not fit needs as much, however small the device")
{
    const Job job = resolve(gpt_22b()).value();
    const MemoryEstimate without_limit = estimate_memory(job, {});
    for (const Bytes capacity : {10_GB, 40_GB, 80_GB}) {
        const MemoryEstimate estimate = estimate_memory(job, {.capacity = capacity});
        CHECK_FALSE(estimate.fits());
        CHECK(estimate.peak() == without_limit.peak());
    }
}

TEST_CASE("the fullest stage is the one that counts")
{
    JobRequest request = gpt_22b();
    request.strategy.pp = 4;
    request.devices = 32;
    request.strategy.stage_layers = {2, 2, 40, 4};
    const MemoryEstimate estimate = estimate_memory(resolve(request).value(), {});
    CHECK(estimate.fullest_stage == 2);
    for (const StageMemory& stage : estimate.stages)
        CHECK(stage.total() <= estimate.peak());
}

TEST_CASE("what is in use is all but what nobody uses, allocated or not")
{
    StageMemory stage;
    stage.kinds = {{"activations", Bytes(10)},
                   {"communicators", Bytes(1)},
                   {"context", Bytes(2)},
                   {"fragmentation", Bytes(4)}};
    CHECK(stage.total() == Bytes(17));
    CHECK(stage.in_use() == Bytes(13));
    CHECK(stage.allocated() == Bytes(10));
}
