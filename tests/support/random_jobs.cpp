#include "tests/support/random_jobs.h"

#include "sim/base/fields.h"
#include "sim/cost/profile_library.h"
#include "sim/strategy/schedule.h"
#include "tests/catch.h"
#include "tests/support/pick.h"
#include "tests/unit/strategy/plans.h"

namespace trainyard::testing {

namespace {

bool coin(Random& random)
{
    return random.integer(0, 1) == 1;
}

Model random_model(Random& random)
{
    Model model = random.integer(0, 2) == 0 ? small_mixture() : small_decoder();
    auto& transformer = std::get<Transformer>(model.architecture);
    transformer.layers = pick<int>(random, {4, 6, 8, 12});
    transformer.tied_embeddings = coin(random);
    transformer.kv_heads = pick<int>(random, {2, 8});
    if (transformer.moe)
        transformer.moe->shared_expert_ffn = pick<std::int64_t>(random, {0, 1024});
    return model;
}

constexpr int most_devices = 4 * 4 * 4 * 4; // of the sizes below

Strategy random_strategy(Random& random, bool experts)
{
    Strategy s;
    s.tp = pick<int>(random, {1, 1, 2, 4});
    s.pp = pick<int>(random, {1, 1, 2, 3, 4});
    s.vpp = s.pp > 1 ? pick<int>(random, {1, 1, 2, 3}) : 1;
    s.cp = pick<int>(random, {1, 1, 2, 4});
    s.dp = pick<int>(random, {1, 2, 3, 4});
    if (s.cp > 1) {
        s.context.kind = pick<ContextKind>(random, {ContextKind::all_gather, ContextKind::ring,
                                                    ContextKind::ulysses, ContextKind::hybrid});
        s.context.a2a = s.context.kind == ContextKind::hybrid ? pick<int>(random, {1, 2, 4}) : 1;
        const bool ring =
            s.context.kind == ContextKind::ring || s.context.kind == ContextKind::hybrid;
        if (ring && coin(random))
            s.context.balance = ContextBalance::contiguous;
    }
    if (experts) {
        s.ep = pick<int>(random, {1, 2, 4, 8});
        s.etp = pick<int>(random, {1, 2, s.tp});
    }
    s.zero = pick<int>(random, {0, 1, 2, 3});
    s.schedule = s.vpp > 1 && coin(random) ? "interleaved-1f1b" : pick(random, schedule_names());
    s.overlap = {coin(random), coin(random), coin(random)};
    s.sequence_parallel = s.tp > 1 && coin(random);
    s.prefetch = pick<int>(random, {0, 1, 2});
    if (coin(random))
        s.reshard_after_forward = coin(random);
    return s;
}

Training random_training(Random& random, const Strategy& s)
{
    Training t = training_of(std::int64_t{*s.dp} * s.pp * random.integer(1, 3));
    t.micro_batch = random.integer(0, 3) == 0 ? 2 : 1;
    t.global_batch *= t.micro_batch;
    t.precision = pick<Precision>(random, {Precision::bf16, Precision::fp8, Precision::fp32});
    t.optimizer = pick<Optimizer>(
        random, {Optimizer::adam, Optimizer::sgd, Optimizer::adafactor, Optimizer::muon});
    t.recompute = pick<Recompute>(random, {Recompute::none, Recompute::selective, Recompute::full});
    if (t.recompute == Recompute::full && coin(random))
        t.recompute_layers = pick<int>(random, {0, 1, 2});
    if (t.recompute == Recompute::selective && coin(random))
        t.recompute_modules = {pick<RecomputeModule>(
            random, {RecomputeModule::layernorm, RecomputeModule::mlp, RecomputeModule::moe,
                     RecomputeModule::per_op, RecomputeModule::per_op})};
    if (coin(random))
        t.fp32_gradients = coin(random);
    if (random.integer(0, 3) == 0)
        t.packing = Packing{pick<std::int64_t>(random, {100, 256, 1024}), {}};
    return t;
}

// Options of ZeRO and DDP, offload, adapters, input.
void add_options(Random& random, JobRequest& request)
{
    Strategy& s = request.strategy;
    if (random.integer(0, 2) == 0)
        s.shard_group = pick<int>(random, {1, 2, 4});
    if (random.integer(0, 3) == 0)
        s.sharding.style =
            pick<ShardingStyle>(random, {ShardingStyle::megatron, ShardingStyle::deepspeed});
    s.sharding.reduce_scatter = random.integer(0, 3) > 0;
    s.ddp.no_sync = coin(random);
    s.ddp.gradient_as_bucket_view = coin(random);
    s.fsdp.unit_layers = pick<int>(random, {0, 1, 1, 2});
    s.fsdp.root_unit = coin(random);
    if (s.zero > 0 && random.integer(0, 3) == 0)
        s.offload.optimizer = OffloadTarget::cpu;
    if (s.zero == 3 && random.integer(0, 3) == 0)
        s.offload.parameters = OffloadTarget::cpu;
    if (random.integer(0, 4) == 0)
        request.training.lora = Lora{8, {AdapterTarget::q_proj, AdapterTarget::v_proj}};
    if (random.integer(0, 3) == 0) {
        DataLoading loading;
        loading.workers = pick<int>(random, {0, 1, 8});
        loading.prefetch = pick<int>(random, {0, 1, 2});
        loading.copy =
            pick<HostCopy>(random, {HostCopy::blocking, HostCopy::non_blocking, HostCopy::ahead});
        request.data = DataSource{loading, load_storage(loading.storage).value(),
                                  load_host(loading.host).value()};
    }
}

// One process with a replica for each of 1 to 8 devices.
void run_in_one_process(JobRequest& request)
{
    Strategy& s = request.strategy;
    const int dp = *s.dp;
    s = Strategy{};
    s.dp = dp;
    s.data_parallel = DataParallelScheme::single_process;
    request.training.global_batch = request.training.micro_batch * dp * 2;
    request.devices = dp;
}

} // namespace

std::vector<SoftwareClass> all_software()
{
    std::vector<SoftwareClass> all;
    for (const std::string& name : known_software())
        all.push_back(load_software(name).value());
    return all;
}

JobRequest random_plain_request(Random& random, const std::vector<SoftwareClass>& software)
{
    JobRequest request;
    request.model = random_model(random);
    request.software = pick(random, software);
    if (coin(random))
        request.software.kernels.loss =
            pick<LossKernel>(random, {LossKernel::log_softmax, LossKernel::softmax,
                                      LossKernel::fused, LossKernel::in_place});
    request.strategy = random_strategy(random, request.model.is_moe());
    request.training = random_training(random, request.strategy);
    const Strategy& s = request.strategy;
    request.devices = s.tp * s.pp * s.cp * *s.dp;
    return request;
}

JobRequest random_request(Random& random, const std::vector<SoftwareClass>& software)
{
    JobRequest request = random_plain_request(random, software);
    add_options(random, request);
    if (random.integer(0, 11) == 0)
        run_in_one_process(request);
    return request;
}

Topology cluster_for_random_jobs()
{
    return h100_nodes(most_devices / 8);
}

std::string describe(const JobRequest& request)
{
    const auto text = [](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        return to_text(fields_of<T>().write(value), JsonStyle::compact);
    };
    return request.model.name + " " + to_text(Json(request.software.name), JsonStyle::compact) +
           " " + text(request.training) + " " + text(request.strategy) +
           (request.data ? " " + text(request.data->loading) : std::string());
}

void each_job(const Draws& draws,
              const std::function<JobRequest(Random&, const std::vector<SoftwareClass>&)>& request,
              const std::function<void(const JobRequest&, const Job&)>& check)
{
    const std::vector<SoftwareClass> software = all_software();
    Random random(draws.seed);
    for (int ran = 0; ran < draws.jobs;) {
        const JobRequest drawn = request(random, software);
        const Checked<Job> job = resolve(drawn);
        if (!job)
            continue;
        INFO(describe(drawn));
        REQUIRE(job->world() <= most_devices);
        check(drawn, *job);
        ++ran;
    }
}

} // namespace trainyard::testing
