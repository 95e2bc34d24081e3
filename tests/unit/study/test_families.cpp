#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "sim/workload/huggingface/family.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

bool has_latents(const std::string& family)
{
    for (const char* name : {"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "kimi_k25",
                             "kimi_linear", "kimi_k3", "glm_moe_dsa", "longcat_flash", "axk2",
                             "hy_v4", "hy_v4_vl", "glm4_moe_lite", "youtu", "axk1"})
        if (family == name)
            return true;
    return false;
}

// A decoder that attends to an encoder of its own keys.
bool has_encoder(const std::string& family)
{
    for (const char* name : {"whisper", "bart", "mbart", "pegasus", "marian", "m2m_100"})
        if (family == name)
            return true;
    return false;
}

bool sees_images(const std::string& family)
{
    for (const char* name :
         {"vit", "beit", "deit", "dinov2", "clip_vision_model", "siglip_vision_model"})
        if (family == name)
            return true;
    return false;
}

// A small model that every family can be: each takes the keys it knows.
Json config_of(const std::string& family)
{
    const Checked<Json> json = parse_json(R"({
        "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16,
        "num_key_value_heads": 16, "intermediate_size": 4096, "vocab_size": 32000,
        "max_position_embeddings": 4096, "num_experts": 8, "num_experts_per_tok": 2,
        "moe_intermediate_size": 1024, "sliding_window": 1024})",
                                          "config.json");
    REQUIRE(json);
    Json config = *json;
    config["model_type"] = family;
    if (has_latents(family)) {
        config["q_lora_rank"] = 256;
        config["kv_lora_rank"] = 128;
        config["qk_nope_head_dim"] = 64;
        config["qk_rope_head_dim"] = 32;
        config["v_head_dim"] = 64;
        config["first_k_dense_replace"] = 1;
        config["num_nextn_predict_layers"] = 1;
    }
    if (family == "deepseek_v32" || family == "glm_moe_dsa") {
        config["index_n_heads"] = 8;
        config["index_head_dim"] = 64;
        config["index_topk"] = 256;
    }
    if (sees_images(family)) // patches of 16: 2116 tokens and more
        config["image_size"] = 736;
    if (has_encoder(family)) {
        config["encoder_layers"] = 2;
        config["encoder_attention_heads"] = 16;
        config["encoder_ffn_dim"] = 4096;
        config["max_target_positions"] = 4096;
    }
    if (family == "mamba" || family == "mamba2" || family == "falcon_mamba")
        config["state_size"] = 64;
    if (family == "mamba" || family == "falcon_mamba")
        config["time_step_rank"] = 64;
    return config;
}

ScenarioFile scenario_of(const std::string& family, const char* topology, Precision precision)
{
    Scenario s;
    s.model.value = config_of(family);
    s.topology.path = topology;
    s.training.sequence_length = 2048;
    s.training.global_batch = 16;
    s.training.precision = precision;
    s.strategy.tp = 2;
    // Layers share their parameters, or attend to an encoder: one stage.
    bool one_stage = has_encoder(family);
    for (const char* name : {"albert", "t5", "mt5", "umt5"})
        one_stage = one_stage || family == name;
    s.strategy.pp = one_stage ? 1 : 2;
    s.strategy.zero = 1;
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", family);
}

} // namespace

TEST_CASE("every family of models trains on H100 and on V100")
{
    Session session;
    for (const std::string& family : hf_family_names())
        for (const auto& [topology, precision] :
             {std::pair("h100-1x8", Precision::bf16), std::pair("v100-1x8", Precision::fp16)})
        {
            CAPTURE(family, topology);
            const Checked<Outcome> outcome =
                session.simulate(scenario_of(family, topology, precision));
            if (!outcome)
                FAIL(render(outcome.error(), ""));
            CHECK(outcome->step_time.value.value() > 0);
            CHECK(outcome->memory.fits());
        }
}

TEST_CASE("a device without units for a narrow format runs it in 16 bit and says so")
{
    Session session;
    const auto warned = [&](const char* topology, Precision precision) {
        const Checked<Outcome> outcome =
            session.simulate(scenario_of("llama", topology, precision));
        REQUIRE(outcome);
        return std::any_of(outcome->warnings.begin(), outcome->warnings.end(),
                           [](const Diagnostic& warning) {
                               return warning.message.find("no units for") != std::string::npos;
                           });
    };
    CHECK_FALSE(warned("h100-1x8", Precision::fp8));
    CHECK_FALSE(warned("h100-1x8", Precision::fp8_block));
    CHECK(warned("h100-1x8", Precision::mxfp8));
    CHECK(warned("h100-1x8", Precision::nvfp4));
    CHECK_FALSE(warned("b200-1x8", Precision::mxfp8));
    CHECK_FALSE(warned("b200-1x8", Precision::nvfp4));
    CHECK(warned("a100-1x8", Precision::fp8));
    CHECK(warned("v100-1x8", Precision::bf16));
}
