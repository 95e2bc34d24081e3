#include "sim/base/build_info.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/starting_point.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

Checked<StartingPoint> start(const std::string& model, const std::string& gpu, int gpus)
{
    const auto machine = usual_machine(gpu, (gpus + 7) / 8, std::min(gpus, 8));
    REQUIRE(machine);
    StartRequest request;
    request.model = {model, {}};
    request.topology = {{}, machine->topology};
    request.folder = data_dir() / "scenarios";
    Session session;
    return starting_point(request, session);
}

Strategy strategy_for(const std::string& model, const std::string& gpu, int gpus)
{
    const Checked<StartingPoint> point = start(model, gpu, gpus);
    REQUIRE(point);
    CHECK(point->memory.fits());
    return point->scenario.strategy;
}

} // namespace

TEST_CASE("what fits into one GPU starts with DDP")
{
    // ResNet-50 anywhere; GPT-2 XL takes 1.6e9 x 16 bytes = 25 GB of 80
    CHECK(strategy_for("resnet-50", "v100", 8).zero == 0);
    CHECK(strategy_for("gpt2-xl", "h100", 4).zero == 0);
}

TEST_CASE("a transformer whose states fit into one node starts with FSDP")
{
    // 6.7e9 x 16 bytes = 108 GB: not into 80 GB, but into 8 x 80 GB
    const Strategy strategy = strategy_for("llama-2-7b", "h100", 8);
    CHECK(strategy.zero == 3);
    CHECK(strategy.tp * strategy.pp == 1);
}

TEST_CASE("a model whose states exceed a node starts with TP inside it, PP and DP")
{
    // 69e9 x 16 bytes = 1.1 TB: more than 8 x 80 GB
    const Strategy strategy = strategy_for("llama-2-70b", "h100", 64);
    CHECK(strategy.zero == 1);
    CHECK(strategy.tp > 1);
    CHECK(strategy.tp <= 8);
    CHECK(strategy.tp * strategy.pp * *strategy.dp == 64);
}

TEST_CASE("a model that no division makes fit is refused with what is missing")
{
    const Checked<StartingPoint> point = start("llama-3.1-405b", "a100", 8);
    REQUIRE(!point);
    CHECK(point.error().front().message.find("does not fit on 8 x") != std::string::npos);
}
