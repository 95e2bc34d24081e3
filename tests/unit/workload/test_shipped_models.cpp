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
    CHECK(shipped_parameters("gpt2/config.json") == 124'439'808);
    CHECK(shipped_parameters("gemma-2b/config.json") == 2'506'172'416);
    CHECK(shipped_parameters("llama-2-7b/config.json") == 6'738'415'616);
    CHECK(shipped_parameters("llama-2-13b/config.json") == 13'015'864'320);
    CHECK(shipped_parameters("llama-2-70b/config.json") == 68'976'648'192);
    CHECK(shipped_parameters("llama-3.1-8b/config.json") == 8'030'261'248);
    CHECK(shipped_parameters("llama-3.1-70b/config.json") == 70'553'706'496);
    CHECK(shipped_parameters("llama-3.1-405b/config.json") == 405'853'388'800);
    CHECK(shipped_parameters("mistral-7b-v0.1/config.json") == 7'241'732'096);
    CHECK(shipped_parameters("tinyllama-1.1b/config.json") == 1'100'048'384);
    CHECK(shipped_parameters("open-llama-3b-v2/config.json") == 3'426'473'600);
    CHECK(shipped_parameters("codellama-34b/config.json") == 33'743'970'304);
    CHECK(shipped_parameters("smollm2-135m/config.json") == 134'515'008);
    CHECK(shipped_parameters("mixtral-8x7b/config.json") == 46'702'792'704);
    CHECK(shipped_parameters("qwen3-30b-a3b/config.json") == 30'532'122'624);
    CHECK(shipped_parameters("pythia-160m/config.json") == 162'322'944);
    CHECK(shipped_parameters("pythia-1b/config.json") == 1'011'781'632);
    CHECK(shipped_parameters("pythia-6.9b/config.json") == 6'857'302'016);
    CHECK(shipped_parameters("pythia-12b/config.json") == 11'846'072'320);
    CHECK(shipped_parameters("phi-1.5/config.json") == 1'418'270'720);
    CHECK(shipped_parameters("qwen1.5-7b/config.json") == 7'721'324'544);
    CHECK(shipped_parameters("stablelm-2-1.6b/config.json") == 1'644'515'328);
    CHECK(shipped_parameters("lfm2-1.2b/config.json") == 1'170'340'608);
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

TEST_CASE("models of 2023 to 2026 have the parameters that their cards state, in billions")
{
    struct Card {
        const char* folder;
        double total;
        double active; // 0: not stated
    };
    // Where a card counts without the layers that predict further, so do we here.
    const std::vector<Card> cards{{"llama-3.2-1b", 1.236, 0},
                                  {"llama-3.2-3b", 3.213, 0},
                                  {"llama-4-scout-17b-16e", 107.8, 17},
                                  {"llama-4-maverick-17b-128e", 400, 17},
                                  {"mistral-7b-v0.3", 7.248, 0},
                                  {"mistral-nemo-12b", 12.25, 0},
                                  {"mistral-small-24b", 23.57, 0},
                                  {"mistral-large-123b", 122.6, 0},
                                  {"mixtral-8x22b", 140.6, 39.1},
                                  {"qwen2.5-0.5b", 0.494, 0},
                                  {"qwen2.5-7b", 7.616, 0},
                                  {"qwen2.5-72b", 72.71, 0},
                                  {"qwen3-8b", 8.19, 0},
                                  {"qwen3-32b", 32.76, 0},
                                  {"qwen3-235b-a22b", 235.1, 22.2},
                                  {"qwen3-coder-480b-a35b", 480.2, 35.5},
                                  {"qwen3-next-80b-a3b", 79.7, 3.9},
                                  {"gemma-2-9b", 9.24, 0},
                                  {"gemma-2-27b", 27.23, 0},
                                  {"gemma-3-1b", 1.0, 0},
                                  {"gemma-4-26b-a4b", 25.2, 3.8},
                                  {"phi-2", 2.78, 0},
                                  {"phi-3-mini", 3.82, 0},
                                  {"phi-4", 14.66, 0},
                                  {"deepseek-v2-lite", 15.7, 2.7},
                                  {"deepseek-llm-67b", 67.4, 0},
                                  {"deepseek-v4-flash", 284, 13.7},
                                  {"kimi-k2", 1026, 32.9},
                                  {"moonlight-16b-a3b", 15.96, 0},
                                  {"kimi-linear-48b-a3b", 49.1, 3.5},
                                  {"glm-5", 744, 41},
                                  {"minimax-m2", 229, 11},
                                  {"gpt-oss-20b", 20.9, 4.2},
                                  {"gpt-oss-120b", 116.8, 5.7},
                                  {"nemotron-h-8b", 8.1, 0},
                                  {"nemotron-3-nano-30b-a3b", 31.6, 3.6},
                                  {"olmo-2-13b", 13.7, 0},
                                  {"olmoe-1b-7b", 6.92, 1.28},
                                  {"falcon-180b", 179, 0},
                                  {"yi-34b", 34.4, 0},
                                  {"command-r-plus-104b", 103.8, 0},
                                  {"dbrx-132b", 131.6, 36.5},
                                  {"starcoder2-15b", 15.96, 0},
                                  {"ling-plus", 290.6, 29},
                                  {"mamba2-2.7b", 2.7, 0},
                                  {"whisper-large-v3", 1.543, 0}};
    for (const Card& card : cards) {
        CAPTURE(card.folder);
        Model model = shipped(std::string(card.folder) + "/config.json");
        std::get<Transformer>(model.architecture).prediction_layers = 0;
        const ParameterCount count = count_parameters(model);
        CHECK_THAT(count.total, WithinRel(card.total * 1e9, 0.006));
        if (card.active > 0)
            CHECK_THAT(count.active, WithinRel(card.active * 1e9, 0.035));
    }
}
