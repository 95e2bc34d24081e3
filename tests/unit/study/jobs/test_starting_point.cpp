#include "sim/base/build_info.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/starting_point.h"
#include "sim/study/session.h"
#include "sim/topology/read_topology.h"
#include "tests/catch.h"

#include <numeric>

using namespace trainyard;

namespace {

struct Wish {
    std::string model;
    std::string gpu = "h100";
    int nodes = 1;
    int per_node = 8;
    std::optional<std::int64_t> global_batch = {};
    std::optional<std::int64_t> sequence_length = {};
};

tl::expected<StartingPoint, StartRefusal> start(const Wish& wish)
{
    const auto machine = usual_machine(wish.gpu, wish.nodes, wish.per_node);
    REQUIRE(machine);
    StartRequest request;
    request.model = {wish.model, {}};
    request.topology = {{}, machine->topology};
    request.global_batch = wish.global_batch;
    request.sequence_length = wish.sequence_length;
    request.folder = data_dir() / "scenarios";
    Session session;
    return starting_point(request, session);
}

StartingPoint started(const Wish& wish)
{
    tl::expected<StartingPoint, StartRefusal> point = start(wish);
    REQUIRE(point);
    CHECK(point->memory.fits());
    return std::move(*point);
}

// What a refusal says, and whether it is one for lack of memory.
std::string refused(const Wish& wish, bool too_large)
{
    const tl::expected<StartingPoint, StartRefusal> point = start(wish);
    REQUIRE(!point);
    CHECK(point.error().too_large == too_large);
    const Diagnostic& first = point.error().problems.front();
    return first.message + ": " + first.hint;
}

bool says(const std::string& text, const std::string& part)
{
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return true;
}

} // namespace

TEST_CASE("what fits into one GPU starts with replicas")
{
    // ResNet-50 anywhere
    const Strategy strategy = started({"resnet-50", "v100"}).scenario.strategy;
    CHECK(strategy.zero == 0);
    CHECK(*strategy.dp == 8);
}

TEST_CASE("a batch over an odd number of nodes leaves replicas shares that make micro-batches")
{
    // 2,048 sequences are 36.6 for each of 56 GPUs: 37 would be a prime number.
    const Training training = started({"bert-large", "h100", 7}).scenario.training;
    CHECK(training.global_batch == 2240);
    CHECK(training.micro_batch > 1);
}

TEST_CASE("a model whose states exceed a node starts with TP inside it, PP and DP")
{
    // 69e9 x 16 bytes = 1.1 TB: more than 8 x 80 GB
    const Strategy strategy = started({"llama-2-70b", "h100", 8}).scenario.strategy;
    CHECK(strategy.zero == 1);
    CHECK(strategy.tp <= 8);
    CHECK(strategy.tp * strategy.pp > 1);
    CHECK(strategy.tp * strategy.pp * strategy.cp * *strategy.dp == 64);
}

TEST_CASE("layers that the stages do not divide are laid over them unevenly")
{
    // 61 layers, a prime number: no even pipeline exists.
    const Scenario scenario = started({"deepseek-v3", "h100", 256}).scenario;
    const Strategy& s = scenario.strategy;
    CHECK(s.pp > 1);
    CHECK(s.ep > 1);
    REQUIRE(static_cast<int>(s.stage_layers.size()) == s.pp * s.vpp);
    CHECK(std::accumulate(s.stage_layers.begin(), s.stage_layers.end(), 0) == 61);
}

TEST_CASE("micro-batches are as large as fit where that is quicker")
{
    // 512 tokens a pass keep no H100 busy: BERT-large takes 521 ms a step so, in passes of eight
    // sequences 101 ms with ZeRO-1 and 160 ms with FSDP; at 32 a replica has no more.
    const StartingPoint bert = started({"bert-large", "h100", 8});
    CHECK(bert.scenario.strategy.zero == 1);
    CHECK(bert.scenario.training.micro_batch == 32);
    CHECK(bert.step_time < Seconds(0.1));
    // 96 images are 12 a replica; a V100 with 32 GB holds 512 at once.
    CHECK(started({"resnet-50", "v100", 1, 8, 96}).scenario.training.micro_batch == 12);
    CHECK(started({"resnet-50", "v100", 1, 8, 16'384}).scenario.training.micro_batch == 512);
}

TEST_CASE("sequences of a token make no more micro-batches than a step may have")
{
    const Scenario scenario = started({"llama-3.1-8b", "h100", 1, 8, {}, 1}).scenario;
    const Training& training = scenario.training;
    CHECK(training.global_batch / (training.micro_batch * *scenario.strategy.dp) <= 65'534);
}

TEST_CASE("more nodes than three layers of the usual switches hold get switches of more ports")
{
    // 64 ports hold 64^3 / 4 = 65,536 NICs.
    const auto usual = usual_machine("h100", 8192, 8);
    const auto wide = usual_machine("h100", 16'384, 8);
    REQUIRE((usual && wide));
    CHECK(usual->widened.empty());
    CHECK(!wide->widened.empty());
    const Checked<Topology> topology = read_topology(wide->topology, "");
    REQUIRE(topology);
    CHECK(topology->device_count() == 131'072);
    CHECK(read_topology(usual_machine("a100", 125'000, 8)->topology, ""));
}

TEST_CASE("the same request gives the same starting point")
{
    const Wish wish{"llama-2-7b", "a100", 2};
    CHECK(started(wish).scenario == started(wish).scenario);
}

TEST_CASE("a starting point says why, and what it was chosen from")
{
    const StartingPoint point = started({"llama-2-7b"});
    const std::string all =
        std::accumulate(point.reasons.begin(), point.reasons.end(), std::string());
    says(all, "were simulated");
    says(all, "it probably fits");
}

TEST_CASE("a model that no division makes fit is refused with what is missing")
{
    const std::string text = refused({"llama-3.1-405b", "a100"}, true);
    says(text, "does not fit on 8 x");
    // 405.9e9 x 16 bytes over 8 are 812 GB; activations and the CUDA context come on top
    says(text, "817 GB of 85.2 GB");
}

TEST_CASE("a batch that no layout divides is the reason, with the nearest that some divide")
{
    // Layers of images have replicas alone, 8 of them.
    const std::string text = refused({"resnet-50", "v100", 1, 8, 101}, false);
    says(text, "global batch of 101");
    says(text, "96 or 104");
}

TEST_CASE("a batch that divides over no layout that fits is the reason, whatever does not fit")
{
    // 1016 = 8 x 127: states that fit leave 127 replicas or a multiple; 128 GB of DDP's do not.
    const std::string text = refused({"llama-3.1-8b", "h100", 127, 8, 1000}, false);
    says(text, "global batch of 1000");
    says(text, "889 or 1016"); // 7 x 127, 8 x 127
    says(refused({"llama-3.1-8b", "h100", 127, 8, 8}, false), "works: 127");
    // 296 = 8 x 37
    says(refused({"llama-3.1-8b", "h100", 37, 8, 64}, false), "37 or 74");
}

TEST_CASE("a batch of more micro-batches than a step may have is the reason, with the most it may")
{
    // 65,534 micro-batches x 8 replicas
    for (const std::string model : {"resnet-50", "llama-3.1-8b"}) {
        const std::string text = refused({model, "h100", 1, 8, 8'000'000'000}, false);
        says(text, "micro-batches");
        says(text, "524272");
    }
}

TEST_CASE("memory is the reason where no other batch would make a layout fit")
{
    // 8 replicas of TP 1 at the most, and 16 bytes x 69e9 on 8 GPUs are too many for any.
    says(refused({"llama-2-70b", "h100", 1, 8, 9}, true), "does not fit on 8 x");
}

TEST_CASE("a batch that init chooses divides over a layout")
{
    // About 4 million tokens are 32 sequences; replicas are a multiple of 127.
    const StartingPoint point = started({"llama-3.1-8b", "h100", 127, 8, {}, 131'072});
    CHECK(point.scenario.training.global_batch == 127);
}

TEST_CASE("a batch that few sizes divide starts with one of those")
{
    const StartingPoint point = started({"llama-3.1-8b", "h100", 3, 8, 100});
    CHECK(point.scenario.training.global_batch == 100);
    CHECK(100 % *point.scenario.strategy.dp == 0);
}

TEST_CASE("an encoder-decoder starts with sequences as long as its encoder's")
{
    CHECK(started({"t5-11b", "h100", 2, 8}).scenario.training.sequence_length == 512);
}

TEST_CASE("a sequence longer than learned positions reach is the reason, not memory")
{
    says(refused({"bert-large", "h100", 8, 8, {}, 1024}, false), "512");
}
