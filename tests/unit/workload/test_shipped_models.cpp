#include "sim/base/build_info.h"
#include "sim/base/json.h"
#include "sim/workload/model_reader.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

Model shipped(const std::string& file)
{
    const std::string path = (data_dir() / "scenarios" / "models" / file).string();
    const Checked<Json> json = read_json_file(path);
    REQUIRE(json);
    const Checked<Model> model = read_model(*json, path);
    REQUIRE(model);
    return *model;
}

double shipped_parameters(const std::string& file)
{
    return count_parameters(shipped(file)).total;
}

} // namespace

TEST_CASE("shipped models have exactly the published number of parameters")
{
    CHECK(shipped_parameters("gpt2-xl/config.json") == 1'557'611'200);
    CHECK(shipped_parameters("llama-2-7b/config.json") == 6'738'415'616);
    CHECK(shipped_parameters("llama-2-13b/config.json") == 13'015'864'320);
    CHECK(shipped_parameters("llama-2-70b/config.json") == 68'976'648'192);
    CHECK(shipped_parameters("llama-3.1-8b/config.json") == 8'030'261'248);
    CHECK(shipped_parameters("llama-3.1-70b/config.json") == 70'553'706'496);
    CHECK(shipped_parameters("llama-3.1-405b/config.json") == 405'853'388'800);
    CHECK(shipped_parameters("mixtral-8x7b/config.json") == 46'702'792'704);
    CHECK(shipped_parameters("qwen3-30b-a3b/config.json") == 30'532'122'624);
    CHECK(shipped_parameters("bert-large/config.json") == 336'226'108);
    CHECK(shipped_parameters("resnet-50/model.json") == 25'557'032);
    // 96 (12 h^2 + 13 h) + (50257 + 2048) h + 2 h at h = 12288: "175 B" (Brown 2020, table 2.1).
    CHECK(shipped_parameters("gpt-3-175b/model.json") == 174'604'259'328);
}

TEST_CASE("a token of an MoE model uses the experts it is sent to")
{
    // Published as 12.9 B (Mixtral) and 3.3 B (Qwen3) active.
    const Model mixtral = shipped("mixtral-8x7b/config.json");
    const double dense = 46'702'792'704 - 32.0 * 8 * 3 * 4096 * 14336;
    CHECK(count_parameters(mixtral).active == dense + 32.0 * 2 * 3 * 4096 * 14336);
    CHECK_THAT(count_parameters(mixtral).active, WithinRel(12.9e9, 0.005));
    CHECK_THAT(count_parameters(shipped("qwen3-30b-a3b/config.json")).active,
               WithinRel(3.3e9, 0.02));
}

TEST_CASE("DeepSeek-V2 and V3 have the published number of parameters, in all and per token")
{
    // "236B total, 21B activated" (DeepSeek-AI 2024, V2).
    const ParameterCount v2 = count_parameters(shipped("deepseek-v2/config.json"));
    CHECK(v2.total == 235'741'434'880);
    CHECK_THAT(v2.active, WithinRel(21e9, 0.02));

    // "671B total, 37B activated" (V3) for the main model; "14B of the Multi-Token Prediction
    // Module" (model card) with the embedding and the head it shares, 1.85 B.
    Model v3 = shipped("deepseek-v3/config.json");
    const double with_prediction = count_parameters(v3).total;
    std::get<Transformer>(v3.architecture).prediction_layers = 0;
    const ParameterCount main = count_parameters(v3);
    CHECK(main.total == 671'026'404'352);
    CHECK_THAT(main.active, WithinRel(37e9, 0.02));
    CHECK(with_prediction - main.total == 11'610'067'968);
    CHECK_THAT(with_prediction - main.total + 2 * 129280.0 * 7168, WithinRel(14e9, 0.05));
}

TEST_CASE("ResNet-50 takes 4.1 billion multiply-adds per image forward")
{
    const double forward = model_flops_per_sequence(shipped("resnet-50/model.json"), 1).value() / 3;
    CHECK_THAT(forward, WithinRel(8.2e9, 0.005));
}

TEST_CASE("shipped models say nothing is left open but what their format leaves open")
{
    const std::string path = (data_dir() / "scenarios/models/llama-3.1-70b/config.json").string();
    const Checked<ImportedModel> read = import_model(read_json_file(path).value(), path);
    REQUIRE(read);
    CHECK(read->model.name == "Llama-3.1-70B");
    CHECK(read->assumed.empty());
    CHECK(read->model == shipped("llama-3.1-70b/config.json"));
}
