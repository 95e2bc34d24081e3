#include "sim/strategy/job.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

Transformer llama_70b()
{
    Transformer t;
    t.hidden = 8192;
    t.layers = 80;
    t.heads = 64;
    t.kv_heads = 8;
    t.head_dim = 128;
    t.ffn = 28672;
    t.vocabulary = 128256;
    return t;
}

JobRequest request_of(Transformer model, int devices)
{
    JobRequest request;
    request.model = {"llama-3.1-70b", model};
    request.training.sequence_length = 8192;
    request.training.global_batch = 128;
    request.devices = devices;
    return request;
}

JobRequest three_dimensional_request()
{
    JobRequest request = request_of(llama_70b(), 64);
    request.strategy.tp = 4;
    request.strategy.pp = 4;
    return request;
}

JobRequest mixture(int devices)
{
    Transformer t = llama_70b();
    t.layers = 32;
    t.moe = MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 14336};
    return request_of(t, devices);
}

// The one problem of a request that must be refused.
Diagnostic only_problem(const JobRequest& request)
{
    const Checked<Job> job = resolve(request);
    REQUIRE_FALSE(job);
    REQUIRE(job.error().size() == 1);
    return job.error().front();
}

} // namespace

TEST_CASE("replicas take what the topology leaves over")
{
    const Checked<Job> job = resolve(three_dimensional_request());
    REQUIRE(job);
    CHECK(job->dp() == 4);
    CHECK(job->world() == 64);
    CHECK(job->micro_batches() == 32);
}

TEST_CASE("fewer replicas than fit leave devices idle, more are refused")
{
    JobRequest request = three_dimensional_request();
    request.strategy.dp = 2;
    REQUIRE(resolve(request));
    CHECK(resolve(request)->world() == 32);
    request.strategy.dp = 8;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/dp");
    CHECK_THAT(problem.message, ContainsSubstring("needs 128 devices; the topology has 64"));
    CHECK(problem.hint == "leave dp out to use all devices, or give at most 4");
}

TEST_CASE("a replica that does not divide the devices needs an explicit number of replicas")
{
    JobRequest request = three_dimensional_request();
    request.devices = 72;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/dp");
    CHECK(problem.hint == "give dp (1 to 4) to leave devices idle: dp = 4 uses 64");
    request.devices = 8;
    CHECK_THAT(only_problem(request).message, ContainsSubstring("needs 16 devices"));
}

TEST_CASE("what the strategy leaves open follows the framework's habits")
{
    JobRequest request = three_dimensional_request();
    request.software.sequence_parallel = true;
    request.software.overlaps_dp = false;
    request.software.overlaps_tp = true;
    request.software.overlaps_pp = false;
    request.software.fp32_gradients = false;
    const Job job = resolve(request).value();
    CHECK(job.strategy.overlap.dp == false);
    CHECK(job.strategy.overlap.tp == true);
    CHECK(job.strategy.overlap.pp == false);
    CHECK(job.training.fp32_gradients == false);
    CHECK(job.strategy.sequence_parallel == true);
    CHECK(job.strategy.schedule == "1f1b");

    request.software.sequence_parallel = false;
    CHECK(resolve(request)->strategy.overlap.tp == false); // an all-reduce is not cut up
    request.strategy.overlap.tp = true;
    CHECK(resolve(request)->strategy.overlap.tp == false);

    request.strategy.overlap = {.dp = true, .tp = false, .pp = true};
    request.training.fp32_gradients = true;
    request.software.sequence_parallel = false;
    request.strategy.vpp = 5;
    const Job other = resolve(request).value();
    CHECK(other.strategy.overlap == Overlap{.dp = true, .tp = false, .pp = true});
    CHECK(other.training.fp32_gradients == true);
    CHECK(other.strategy.sequence_parallel == false);
    CHECK(other.strategy.schedule == "interleaved-1f1b");
}

TEST_CASE("tensor parallelism must divide the heads, and says which sizes do")
{
    JobRequest request = request_of(llama_70b(), 12);
    request.strategy.tp = 3;
    request.training.sequence_length = 3 * 1024;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/tp");
    CHECK(problem.message == "3 does not divide the 64 attention heads of model \"llama-3.1-70b\"");
    CHECK(problem.hint == "tensor parallel sizes that work here: 1, 2, 4, 8");
}

TEST_CASE("more tensor-parallel ranks than key/value heads keep a copy of one head each")
{
    JobRequest request = request_of(llama_70b(), 16);
    request.strategy.tp = 16; // 8 key/value heads: two ranks share one
    CHECK(resolve(request));
    Transformer odd = llama_70b();
    odd.kv_heads = 12;
    request.model.architecture = odd;
    CHECK_THAT(only_problem(request).message, ContainsSubstring("12 key/value heads"));
}

TEST_CASE("context parallelism must divide the sequence")
{
    JobRequest request = request_of(llama_70b(), 6);
    request.strategy.cp = 3;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/cp");
    CHECK(problem.hint == "context parallel sizes that work here: 1, 2, 4");
}

TEST_CASE("pipeline stages must divide the layers unless each stage's layers are given")
{
    JobRequest request = request_of(llama_70b(), 12);
    request.strategy.pp = 3;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/pp");
    CHECK_THAT(problem.hint, StartsWith("pipeline sizes that work here: 1, 2, 4, 5, 8, 10;"));
    request.strategy.stage_layers = {26, 27, 27};
    CHECK(resolve(request));
    request.strategy.stage_layers = {26, 27, 28};
    CHECK_THAT(only_problem(request).message, ContainsSubstring("81 layers"));
    request.strategy.stage_layers = {40, 0, 40};
    CHECK_THAT(only_problem(request).message, ContainsSubstring("0 layers in stage 1"));
    request.strategy.stage_layers = {0, 80, 0};
    CHECK(resolve(request));
    request.strategy.stage_layers = {40, 40};
    CHECK_THAT(only_problem(request).message, ContainsSubstring("2 entries for 3 stages"));
}

TEST_CASE("a batch must be whole micro-batches on every replica")
{
    JobRequest request = three_dimensional_request();
    request.training.micro_batch = 3;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/training/global_batch");
    CHECK(problem.hint == "batches that work here: 120 or 132; micro-batches that work here: 1, 2");
    request.training.global_batch = 2;
    CHECK(only_problem(request).hint == "batches that work here: 12");
}

TEST_CASE("interleaving takes whole groups of micro-batches")
{
    JobRequest request = three_dimensional_request();
    request.strategy.vpp = 5;
    request.training.global_batch = 4 * 6; // 6 micro-batches per replica over 4 stages
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/schedule");
    CHECK_THAT(problem.hint, ContainsSubstring("multiple of 4"));
}

TEST_CASE("expert groups divide the experts and fill a stage")
{
    JobRequest request = mixture(16);
    request.strategy.ep = 8;
    CHECK(resolve(request));
    request.strategy.ep = 3;
    const Checked<Job> bad = resolve(request);
    REQUIRE_FALSE(bad);
    REQUIRE(bad.error().size() == 2); // neither the experts nor the 16 ranks
    CHECK(bad.error()[0].hint == "expert parallel sizes that work here: 1, 2, 4, 8");
    CHECK(bad.error()[1].hint == "expert parallel sizes that work here: 1, 2, 4, 8, 16");
    request.strategy.ep = 8;
    request.strategy.etp = 4;
    CHECK_THAT(only_problem(request).message, ContainsSubstring("8 x 4 ranks do not fill the 16"));
    request.strategy.etp = 32; // no ep makes room for these
    CHECK(only_problem(request).pointer == "/strategy/etp");
    CHECK(only_problem(request).hint ==
          "expert tensor parallel sizes that work here: 1, 2, 4, 8, 16");

    JobRequest dense = request_of(llama_70b(), 16);
    dense.strategy.ep = 2;
    CHECK_THAT(only_problem(dense).message, ContainsSubstring("no experts"));
}

TEST_CASE(
    "experts are cut no further than the rest where tensor-parallel ranks have the same tokens")
{
    JobRequest request = mixture(8);
    request.strategy.tp = 2;
    request.strategy.sequence_parallel = false;
    request.strategy.etp = 4;
    const Diagnostic problem = only_problem(request);
    CHECK(problem.pointer == "/strategy/etp");
    CHECK(problem.hint == "set sequence_parallel to true, or etp to 2");
    request.strategy.etp = 2;
    CHECK(resolve(request));
    request.strategy.sequence_parallel = true;
    request.strategy.etp = 4;
    CHECK(resolve(request));
}

TEST_CASE("sequence parallelism stays off without a tensor-parallel group")
{
    JobRequest request = request_of(llama_70b(), 8);
    request.strategy.sequence_parallel = true;
    CHECK(resolve(request).value().strategy.sequence_parallel == false);
    request.strategy.tp = 2;
    CHECK(resolve(request).value().strategy.sequence_parallel == true);
}

TEST_CASE("FSDP goes together with pipeline stages, ZeRO-2 does not")
{
    JobRequest request = request_of(llama_70b(), 64);
    request.strategy.zero = 3;
    request.strategy.tp = 8;
    CHECK(resolve(request).value().strategy.reshard_after_forward == true);
    // torchtitan: with stages, units are gathered once per step and gradients reduced once.
    request.strategy.pp = 4;
    const Job staged = resolve(request).value();
    CHECK(staged.strategy.reshard_after_forward == false);
    CHECK(staged.strategy.fsdp.reshard_after_backward == false);
    CHECK(staged.strategy.fsdp.no_sync == true);
    request.strategy.zero = 2;
    CHECK_THAT(only_problem(request).hint, ContainsSubstring("pp = 1"));
}

TEST_CASE("recomputed layers are counted with full recompute only")
{
    JobRequest request = three_dimensional_request();
    request.training.recompute_layers = 5;
    CHECK(only_problem(request).pointer == "/training/recompute_layers");
    request.training.recompute = Recompute::full;
    CHECK(resolve(request));
    request.training.recompute_layers = 21;
    CHECK(only_problem(request).hint == "0 to 20");
}

TEST_CASE("unknown schedules and rank orders are named with what exists")
{
    JobRequest request = three_dimensional_request();
    request.strategy.schedule = "gpip";
    request.strategy.rank_order = "tp-dp";
    const Checked<Job> bad = resolve(request);
    REQUIRE_FALSE(bad);
    REQUIRE(bad.error().size() == 2);
    CHECK(bad.error()[0].hint == "did you mean \"gpipe\"?");
    CHECK(bad.error()[1].message == "\"tp-dp\" leaves out pp, whose size is 4");
    request.strategy.schedule = "gpipe";
    request.strategy.rank_order = "tp-pp-dp";
    CHECK(resolve(request));
    request.strategy.rank_order = "tp-xx";
    CHECK(only_problem(request).pointer == "/strategy/rank_order");
}

TEST_CASE("a list of layers trains with replicas only")
{
    JobRequest request;
    request.model = {"resnet-50", LayerList{{NativeLayer{.name = "conv"}}, 3}};
    request.training.global_batch = 2048;
    request.training.micro_batch = 256;
    request.devices = 8;
    CHECK(resolve(request));
    request.strategy.tp = 2;
    request.strategy.pp = 2;
    const Checked<Job> bad = resolve(request);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().size() == 2);
}

TEST_CASE("learned positions end where the model says")
{
    Transformer gpt = llama_70b();
    gpt.position = PositionKind::learned;
    gpt.max_positions = 1024;
    JobRequest request = request_of(gpt, 8);
    CHECK(only_problem(request).pointer == "/training/sequence_length");
}

TEST_CASE("every problem of a job is reported at once")
{
    JobRequest request = request_of(llama_70b(), 64);
    request.strategy.tp = 7;
    request.strategy.cp = 3;
    request.strategy.pp = 3;
    request.strategy.sequence_parallel = false;
    request.strategy.dp = 1;
    request.training.micro_batch = 5;
    request.strategy.zero = 2;
    const Checked<Job> bad = resolve(request);
    REQUIRE_FALSE(bad);
    std::vector<std::string> pointers;
    for (const Diagnostic& problem : bad.error())
        pointers.push_back(problem.pointer);
    CHECK(pointers == std::vector<std::string>{"/strategy/tp", "/strategy/cp", "/strategy/pp",
                                               "/training/global_batch", "/strategy/zero"});
}

TEST_CASE("sizes made in memory are checked too, however large")
{
    JobRequest request = three_dimensional_request();
    request.strategy.tp = 0;
    request.training.micro_batch = -1;
    const Checked<Job> bad = resolve(request);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().size() == 2);
    request = three_dimensional_request();
    request.strategy.tp = request.strategy.pp = request.strategy.cp = 1'000'000;
    CHECK_FALSE(resolve(request));
}

// Lists of so many passes would fill the memory.
TEST_CASE("passes without number are refused before they are listed")
{
    JobRequest request = request_of(llama_70b(), 64);
    request.strategy.zero = 3;
    request.training.global_batch = 64 * 10'000'000'000;
    CHECK(only_problem(request).pointer == "/training/global_batch");
    request.training.global_batch = 128;
    request.strategy.pp = 2;
    request.strategy.vpp = 1'000'000'000;
    CHECK(only_problem(request).pointer == "/strategy/pp");
}

TEST_CASE("the vocabulary is padded to 128 x tp, as Megatron does")
{
    Transformer gpt = llama_70b();
    gpt.vocabulary = 50257;
    JobRequest request = request_of(gpt, 8);
    request.strategy.tp = 8;
    // 50257 -> 51200 = 50 x 1024: the size in Megatron's GPT-3 runs.
    CHECK(partition_of(resolve(request).value()).padded_vocabulary == 51200);
    request.software.pads_vocabulary = false;
    CHECK_THAT(only_problem(request).message, ContainsSubstring("50257 vocabulary entries"));
    request.strategy.tp = 1;
    CHECK(partition_of(resolve(request).value()).padded_vocabulary == 50257);
}

TEST_CASE("an expert group spans the nodes its ranks lie on")
{
    JobRequest request = mixture(64);
    request.strategy.tp = 4;
    request.strategy.ep = 8; // etp 1: ranks 0 to 7
    CHECK(partition_of(resolve(request).value()).ep_nodes == 1);
    request.strategy.etp = 4; // ranks 0, 4, ..., 28
    CHECK(partition_of(resolve(request).value()).ep_nodes == 4);
}

TEST_CASE("weight gradients are added to an fp32 sum over micro-batches")
{
    JobRequest request = three_dimensional_request();
    CHECK(partition_of(resolve(request).value()).weight_gradient_bytes == 8);
    request.training.fp32_gradients = false;
    CHECK(partition_of(resolve(request).value()).weight_gradient_bytes == 4);
    request.training.global_batch = 4; // one micro-batch: written once
    CHECK(partition_of(resolve(request).value()).weight_gradient_bytes == 2);
}
