// Settings written for another framework read back as the scenario they came from, for all that the
// format can say; and what it cannot say is listed.

#include "sim/base/build_info.h"
#include "sim/study/jobs/job_export.h"
#include "tests/catch.h"
#include "tests/support/pick.h"

#include <fmt/ranges.h>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr int draws = 60;

// A job on 64 H100 that every one of its draws leaves valid, or nothing.
struct Draw {
    explicit Draw(std::uint64_t seed) : random(seed) {}

    Random random;

    Scenario common(std::string_view framework)
    {
        Scenario out;
        out.topology = {"h100-8x8-ndr400", {}};
        out.software.framework = framework;
        out.training.sequence_length = pick<std::int64_t>(random, {1024, 2048});
        out.training.micro_batch = pick<std::int64_t>(random, {1, 2, 4});
        out.training.fp32_gradients = pick<bool>(random, {true, false});
        out.environment = pick<std::map<std::string, std::string>>(
            random, {{}, {{"NCCL_ALGO", "Ring"}, {"CUDA_DEVICE_MAX_CONNECTIONS", "1"}}});
        return out;
    }

    // Micro-batches of every replica.
    void batch(Scenario& scenario, int count)
    {
        const Strategy& s = scenario.strategy;
        const int dp = s.dp.value_or(64 / (s.tp * s.pp * s.cp));
        scenario.training.global_batch = count * scenario.training.micro_batch * dp;
    }
};

Scenario megatron_job(Draw& draw)
{
    Random& random = draw.random;
    Scenario out = draw.common("megatron-core");
    out.model = {pick<std::string>(random, {"llama-2-7b", "llama-3.1-70b", "gpt-3-175b",
                                            "mixtral-8x7b", "deepseek-v2"}),
                 {}};
    Strategy& s = out.strategy;
    s.tp = pick<int>(random, {1, 2, 4});
    s.cp = pick<int>(random, {1, 2});
    const bool even = out.model.path != "deepseek-v2"; // 60 layers
    s.pp = pick<int>(random, even ? std::vector{1, 2, 4, 8} : std::vector{1, 2});
    s.vpp = s.pp > 1 ? pick<int>(random, {1, 2}) : 1;
    s.zero = pick<int>(random, {0, 1});
    if (out.model.path == "mixtral-8x7b" || out.model.path == "deepseek-v2") {
        s.ep = pick<int>(random, {1, 2});
        s.etp = pick<int>(random, {1, s.tp});
    }
    s.sequence_parallel = s.tp > 1 && (s.ep > 1 || pick<bool>(random, {true, false}));
    s.overlap.dp = pick<bool>(random, {true, false});
    if (s.tp > 1)
        s.overlap.tp = pick<bool>(random, {true, false});
    if (s.pp > 1)
        s.overlap.pp = s.vpp > 1 && pick<bool>(random, {true, false});
    if (s.zero == 1 && *s.overlap.dp)
        s.sharding.overlap_param_gather = pick<bool>(random, {true, false});
    s.bucket_cap = Bytes(4096 * pick<std::uint64_t>(random, {1000, 40960}));
    s.rank_order = pick<std::string>(random, {"tp-cp-dp-pp", "tp-cp-pp-dp"});
    out.training.precision =
        pick<Precision>(random, {Precision::bf16, Precision::fp16, Precision::fp8});
    out.training.recompute =
        pick<Recompute>(random, {Recompute::none, Recompute::selective, Recompute::full});
    if (out.training.recompute == Recompute::full && pick<bool>(random, {true, false}))
        out.training.recompute_layers = s.vpp;
    if (out.training.recompute == Recompute::selective && pick<bool>(random, {true, false}))
        out.training.recompute_modules = {
            pick<RecomputeModule>(random, {RecomputeModule::layernorm, RecomputeModule::mlp}),
            RecomputeModule::core_attn};
    out.software.attention =
        pick<AttentionKernel>(random, {AttentionKernel::flash2, AttentionKernel::cudnn});
    out.software.cuda_graphs = pick<bool>(random, {true, false});
    draw.batch(out, 16);
    return out;
}

Scenario deepspeed_job(Draw& draw)
{
    Random& random = draw.random;
    Scenario out = draw.common("deepspeed");
    out.environment.clear();             // it has none
    out.training.sequence_length = 2048; // nor lengths
    out.model = {pick<std::string>(random, {"llama-2-7b", "llama-3.1-70b"}), {}};
    Strategy& s = out.strategy;
    s.zero = pick<int>(random, {0, 1, 2, 3});
    s.tp = pick<int>(random, {1, 2});
    s.overlap.dp = s.zero == 3 || pick<bool>(random, {true, false});
    out.training.precision = pick<Precision>(random, {Precision::bf16, Precision::fp16});
    if (s.zero == 0 && out.training.precision == Precision::bf16)
        out.training.fp32_gradients = true; // DeepSpeed keeps no others there
    if (s.zero == 0)
        s.bucket_cap = s.first_bucket =
            Bytes(4 * pick<std::uint64_t>(random, {100'000, 50'000'000}));
    if (s.zero == 1 || s.zero == 2) {
        s.sharding.style = ShardingStyle::deepspeed;
        s.sharding.reduce_bucket = pick<std::int64_t>(random, {200'000'000, 500'000'000});
        s.sharding.gather_bucket = pick<std::int64_t>(random, {100'000'000, 500'000'000});
        s.sharding.reduce_scatter = pick<bool>(random, {true, false});
    }
    if (s.zero == 3 && pick<bool>(random, {true, false}))
        s.shard_group = 8;
    if (s.zero > 0 && pick<bool>(random, {true, false}))
        s.offload.optimizer = OffloadTarget::cpu;
    draw.batch(out, pick<int>(random, {1, 4}));
    return out;
}

Scenario torchtitan_job(Draw& draw)
{
    Random& random = draw.random;
    Scenario out = draw.common(pick<std::string>(random, {"torchtitan", "torch-fsdp"}));
    out.software.version = "2025";
    out.environment.clear();
    out.training.fp32_gradients = true;
    out.model = {pick<std::string>(random, {"llama-3.1-8b", "llama-3.1-70b"}), {}};
    Strategy& s = out.strategy;
    s.tp = pick<int>(random, {1, 2, 4});
    s.zero = pick<int>(random, {0, 3});
    s.cp = s.zero == 3 ? pick<int>(random, {1, 2}) : 1;
    s.overlap.dp = true;
    if (s.tp > 1) {
        s.overlap.tp = pick<bool>(random, {true, false});
        s.sequence_parallel = pick<bool>(random, {true, false});
    }
    if (s.zero == 3)
        s.reshard_after_forward = pick<bool>(random, {true, false});
    if (s.zero == 3 && pick<bool>(random, {true, false}))
        s.shard_group = 4 * s.cp;
    out.training.precision = pick<Precision>(random, {Precision::bf16, Precision::fp8});
    out.training.recompute =
        pick<Recompute>(random, {Recompute::none, Recompute::selective, Recompute::full});
    if (out.training.recompute == Recompute::selective)
        out.training.recompute_modules = {RecomputeModule::per_op};
    if (pick<bool>(random, {true, false}))
        out.software.loss = pick<LossKernel>(random, {LossKernel::fused, LossKernel::log_softmax});
    draw.batch(out, pick<int>(random, {1, 4}));
    return out;
}

Scenario torchrun_job(Draw& draw)
{
    Random& random = draw.random;
    Strategy s;
    s.zero = pick<int>(random, {0, 3});
    Scenario out = draw.common(s.zero == 3 ? "torch-fsdp" : "torch-ddp");
    out.training.fp32_gradients.reset();
    out.model = {"llama-2-7b", {}};
    if (s.zero == 3)
        s.reshard_after_forward = pick<bool>(random, {true, false});
    else {
        s.bucket_cap = Bytes(pick<std::uint64_t>(random, {25, 100}) << 20);
        s.ddp.find_unused_parameters = pick<bool>(random, {true, false});
    }
    out.strategy = s;
    out.training.precision =
        pick<Precision>(random, {Precision::bf16, Precision::fp16, Precision::tf32});
    out.training.recompute = pick<Recompute>(random, {Recompute::none, Recompute::full});
    draw.batch(out, pick<int>(random, {1, 4}));
    return out;
}

JobExport exported(JobKind kind, const Scenario& scenario, StageMemos& memos)
{
    const ScenarioFile file = scenario_in_memory(scenario, data_dir() / "scenarios", "drawn");
    const Checked<JobExport> out = export_job(kind, file, memos);
    if (!out)
        FAIL(to_text(to_json(scenario)) << render(out.error(), ""));
    return *out;
}

void check_round_trips(JobKind kind, Scenario (*drawn)(Draw&))
{
    StageMemos memos;
    for (std::uint64_t seed = 1; seed <= draws; ++seed) {
        Draw draw(seed);
        const Scenario scenario = drawn(draw);
        const JobExport out = exported(kind, scenario, memos);
        std::vector<std::string> lost;
        for (const std::string& sentence : out.left_out)
            if (!sentence.starts_with("model: given beside"))
                lost.push_back(sentence);
        INFO("seed " << seed << "\n" << to_text(to_json(scenario)) << "\n" << out.text);
        INFO(fmt::format("{}", fmt::join(lost, "\n")));
        CHECK(lost.empty());
    }
}

} // namespace

TEST_CASE("jobs written as Megatron-LM's arguments read back as they were")
{
    check_round_trips(JobKind::megatron, megatron_job);
}

TEST_CASE("jobs written as DeepSpeed's configuration read back as they were")
{
    check_round_trips(JobKind::deepspeed, deepspeed_job);
}

TEST_CASE("jobs written as torchtitan's configuration read back as they were")
{
    check_round_trips(JobKind::torchtitan, torchtitan_job);
}

TEST_CASE("jobs written as a torchrun line read back as they were")
{
    check_round_trips(JobKind::torchrun, torchrun_job);
}

TEST_CASE("what a format cannot say is listed, never dropped")
{
    StageMemos memos;
    Draw draw(1);
    for (const auto& [kind, drawn] : {std::pair(JobKind::megatron, &megatron_job),
                                      std::pair(JobKind::deepspeed, &deepspeed_job),
                                      std::pair(JobKind::torchtitan, &torchtitan_job),
                                      std::pair(JobKind::torchrun, &torchrun_job)})
    {
        Scenario scenario = drawn(draw);
        scenario.strategy.prefetch = 3;
        scenario.perturbations = {{5, 1.25}};
        const JobExport out = exported(kind, scenario, memos);
        const auto tells = [&](std::string_view field) {
            return std::any_of(out.left_out.begin(), out.left_out.end(),
                               [&](const auto& sentence) { return sentence.starts_with(field); });
        };
        CHECK(tells("strategy.prefetch: 3 here"));
        CHECK(tells("perturbations: "));
    }
}
