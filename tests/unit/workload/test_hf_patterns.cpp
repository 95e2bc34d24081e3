#include "sim/base/build_info.h"
#include "sim/base/json.h"
#include "sim/workload/model_reader.h"
#include "sim/workload/model_summary.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

const std::string sizes = R"("hidden_size": 2048, "num_attention_heads": 16,
    "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 5120, "vocab_size": 1000,
    "rms_norm_eps": 1e-6, )";

ImportedModel imported(const std::string& text)
{
    const Checked<Json> json = parse_json("{" + sizes + text + "}", "some-model/config.json");
    REQUIRE(json);
    const Checked<ImportedModel> read = import_model(*json, "some-model/config.json");
    if (!read)
        FAIL(render(read.error(), ""));
    return *read;
}

Model imported_shipped(const std::string& name)
{
    const std::string path = (data_dir() / "scenarios" / "models" / name / "config.json").string();
    const Checked<Json> json = read_json_file(path);
    REQUIRE(json);
    return import_model(*json, path)->model;
}

std::string kinds_of_layers(const std::string& text)
{
    const ModelSummary summary = summarize(imported(text).model, 4096);
    std::string words;
    for (const LayerGroup& group : summary.groups)
        if (!group.ends)
            words += (words.empty() ? "" : ", ") + std::to_string(group.layers) + " " + group.name;
    return words;
}

} // namespace

TEST_CASE("layers of several kinds are read from the lists that configs have")
{
    const std::string experts = R"("num_experts": 8, "num_experts_per_tok": 2,
        "moe_intermediate_size": 512, )";
    const std::string linear = R"("linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, )";
    CHECK(kinds_of_layers(R"("model_type": "qwen3_next", "num_hidden_layers": 8,
                    "full_attention_interval": 4, )" +
                          experts + linear + R"("linear_conv_kernel_dim": 4)") ==
          "6 gated delta net + experts, 2 attention + experts");
    CHECK(kinds_of_layers(R"("model_type": "gpt_oss", "num_hidden_layers": 4, "sliding_window": 128,
                    "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
                                    "full_attention"], )" +
                          experts + R"("use_cache": true)") ==
          "2 window of 128 + experts, 2 attention + experts");
    CHECK(kinds_of_layers(
              R"("model_type": "nemotron_h", "num_hidden_layers": 5, "mamba_num_heads": 64,
                    "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
                    "hybrid_override_pattern": "ME*M-", )" +
              experts + R"("use_cache": true)") == "2 mamba2, 1 experts, 1 attention, 1 mlp");
    CHECK(kinds_of_layers(
              R"("model_type": "qwen3_moe", "num_hidden_layers": 4, "mlp_only_layers": [2], )" +
              experts + R"("use_cache": true)") == "3 attention + experts, 1 attention + mlp");
    CHECK(
        kinds_of_layers(R"("model_type": "kimi_linear", "num_hidden_layers": 4, "kv_lora_rank": 512,
                    "qk_nope_head_dim": 64, "qk_rope_head_dim": 64, "v_head_dim": 64,
                    "linear_attn_config": {"kda_layers": [1, 2, 3], "full_attn_layers": [4],
                                           "num_heads": 16, "head_dim": 64,
                                           "short_conv_kernel_size": 4})") ==
        "3 kimi delta attention + mlp, 1 latent attention + mlp");
    CHECK(
        kinds_of_layers(R"("model_type": "nemotron-nas", "num_hidden_layers": 2, "block_configs": [
                    {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 2.625}},
                    {"attention": {"no_op": true}, "ffn": {"ffn_mult": 1.5}}])") ==
        "1 attention + mlp of 3584, 1 mlp of 2048");
    CHECK(kinds_of_layers(R"("model_type": "cohere2", "num_hidden_layers": 8,
                    "sliding_window": 128, "sliding_window_pattern": 4)") ==
          "6 window of 128 + mlp, 2 attention + mlp");
    CHECK(kinds_of_layers(R"("model_type": "jamba", "num_hidden_layers": 4, "mamba_d_state": 16,
                    "attn_layer_period": 4, "attn_layer_offset": 2, "expert_layer_period": 2,
                    "expert_layer_offset": 0, )" +
                          experts + R"("use_cache": true)") ==
          "1 mamba2 + experts, 2 mamba2 + mlp, 1 attention + experts");
    CHECK(kinds_of_layers(R"("model_type": "llama4_text", "num_hidden_layers": 8,
                    "attention_chunk_size": 1024)") == "6 chunks of 1024 + mlp, 2 attention + mlp");
}

TEST_CASE("without a list windows lie where the family has them")
{
    const auto layers = [](const std::string& family, const std::string& rest) {
        return kinds_of_layers(R"("model_type": ")" + family + R"(", "sliding_window": 128, )" +
                               rest);
    };
    const std::string eight = R"("num_hidden_layers": 8)";
    CHECK(layers("gpt_oss", eight) == "4 window of 128 + mlp, 4 attention + mlp");
    CHECK(layers("olmo3", eight) == "6 window of 128 + mlp, 2 attention + mlp");
    CHECK(layers("exaone4", eight) == "6 window of 128 + mlp, 2 attention + mlp");
    CHECK(layers("cohere2", eight) == "6 window of 128 + mlp, 2 attention + mlp");
    CHECK(layers("gemma3n", R"("num_hidden_layers": 5)") ==
          "4 window of 128 + mlp, 1 attention + mlp");
    // Qwen's upper layers.
    const std::string on = eight + R"(, "use_sliding_window": true, "max_window_layers": )";
    for (const char* family : {"qwen2", "qwen3"}) {
        CHECK(layers(family, on + "6") == "6 attention + mlp, 2 window of 128 + mlp");
        CHECK(layers(family, on + "8") == "8 attention + mlp");
        CHECK(layers(family, on + "0") == "8 window of 128 + mlp");
    }
}

TEST_CASE("shared blocks lie before the layers that a Zamba2 config names")
{
    const std::string zamba = R"("model_type": "zamba2", "num_hidden_layers": 4,
        "mamba_d_state": 64, "mamba_expand": 2, "n_mamba_heads": 64, "mamba_headdim": 64,
        "mamba_ngroups": 2, "num_mem_blocks": 2)";
    const std::string by_type =
        kinds_of_layers(zamba + R"(, "layers_block_type": ["mamba", "hybrid", "mamba", "hybrid"])");
    CHECK(kinds_of_layers(zamba + R"(, "hybrid_layer_ids": [1, 3])") == by_type);
    CHECK_THAT(by_type, ContainsSubstring("4 mamba2"));
    const Checked<Json> neither = parse_json("{" + sizes + zamba + "}", "config.json");
    CHECK_FALSE(import_model(*neither, "config.json"));
}

TEST_CASE("experts to the last layer are what the end -1 says")
{
    const std::string ernie = R"("model_type": "ernie4_5_moe", "num_hidden_layers": 4,
        "moe_num_experts": 8, "moe_k": 2, "moe_intermediate_size": 512,
        "moe_layer_start_index": 1)";
    const std::string all = kinds_of_layers(ernie);
    CHECK(all == "1 attention + mlp, 3 attention + experts");
    CHECK(kinds_of_layers(ernie + R"(, "moe_layer_end_index": -1)") == all);
    CHECK(kinds_of_layers(ernie + R"(, "moe_layer_end_index": 2)") ==
          "2 attention + mlp, 2 attention + experts");
}

TEST_CASE("key heads that blocks say are not assumed")
{
    const Checked<Json> json = parse_json(
        R"({"model_type": "nemotron-nas", "hidden_size": 2048, "num_attention_heads": 16,
            "intermediate_size": 5120, "vocab_size": 1000, "num_hidden_layers": 1,
            "num_key_value_heads": null, "block_configs": [
                {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 2.625}}]})",
        "config.json");
    for (const std::string& text : import_model(*json, "config.json")->assumed)
        CHECK_FALSE(text.starts_with("key heads"));
}

TEST_CASE("keys and values of what encoders made are kept as well")
{
    const Model whisper = imported_shipped("whisper-large-v3");
    const auto& model = std::get<Transformer>(whisper.architecture);
    const auto each = static_cast<std::uint64_t>(2 * 2 * model.kv_heads * model.head_dim);
    CHECK(summarize(whisper, 448).keys_and_values ==
          Bytes(static_cast<std::uint64_t>(model.layers) * each * (448 + 1500)));
}

TEST_CASE("a model is shown in sequences no longer than its learned positions")
{
    CHECK(usual_sequence_length(imported_shipped("whisper-large-v3")) == 448);
    CHECK(usual_sequence_length(imported_shipped("llama-3.1-8b")) == 4096);
}

TEST_CASE("the shortest run of layers that makes them all is the pattern")
{
    const auto model = std::get<Transformer>(
        imported(R"("model_type": "gpt_oss", "num_hidden_layers": 4, "sliding_window": 128,
                  "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
                                  "full_attention"])")
            .model.architecture);
    CHECK(model.pattern == std::vector<std::string>{"window", "attention"});
    CHECK(model.layer_forms.size() == 2);
}

TEST_CASE("a family that is not known is read by its keys and says so")
{
    const std::string rest = R"(, "num_hidden_layers": 2)";
    const ImportedModel known = imported(R"("model_type": "llama")" + rest);
    const ImportedModel unknown = imported(R"("model_type": "zorglub")" + rest);
    CHECK(std::get<Transformer>(unknown.model.architecture) ==
          std::get<Transformer>(known.model.architecture));
    REQUIRE(unknown.assumed.size() >= 2);
    CHECK(unknown.assumed[0] ==
          "family \"zorglub\" is not known: every key is read as its name says");
    CHECK(imported(R"("model_type": "llamma")" + rest).assumed[0] ==
          "family \"llamma\" is not known (did you mean \"llama\"?): every key is read as its name "
          "says");
    // LayerNorm and GELU are GPT's.
    const Checked<Json> gpt = parse_json(
        R"({"model_type": "zorglub", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 10,
            "n_positions": 32, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"})",
        "c.json");
    const auto read = import_model(*gpt, "c.json");
    REQUIRE(read);
    const auto& blocks = std::get<Transformer>(read->model.architecture);
    CHECK_FALSE(blocks.gated_mlp);
    CHECK(blocks.linear_bias);
    CHECK(blocks.norm == NormKind::layer_norm);
    CHECK(blocks.max_positions == 32);
}

TEST_CASE("an indexer picks from the keys that came before, and no more than it may")
{
    Transformer t;
    t.indexer = SparseIndexer{.heads = 4, .head_dim = 128, .keys_per_query = 512};
    t.key_compression = 4;
    t.sliding_window = 128;
    const auto mean_of = [](int length, auto&& picks) {
        double sum = 0;
        for (int at = 1; at <= length; ++at)
            sum += picks(at);
        return sum / length;
    };
    for (const int length : {1024, 4096, 65536}) {
        CAPTURE(length);
        const double picked = mean_of(length, [](int at) { return std::min(512.0, at / 4.0); });
        CHECK_THAT(t.picked_keys(length), WithinRel(picked, 0.005));
        // The window stands for these and the query's own neighbours.
        const double own = mean_of(length, [](int at) { return std::min(128.0, 1.0 * at); });
        const AttentionMask mask{true, t.keys_per_query(length)};
        CHECK_THAT(visible_pairs(1, length, mask), WithinRel(picked + own, 0.01));
    }
}

TEST_CASE("an indexer limits the keys of latent attention")
{
    const auto text = [](const std::string& more) {
        return R"("model_type": "deepseek_v32", "num_hidden_layers": 2, "kv_lora_rank": 512,
                  "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
                  "v_head_dim": 128)" +
               more;
    };
    const Model full = imported(text("")).model;
    const Model sparse =
        imported(text(R"(, "index_n_heads": 4, "index_head_dim": 128, "index_topk": 2048)")).model;
    const double added = count_parameters(sparse).total - count_parameters(full).total;
    CHECK(added == 2.0 * (1536 * 4 * 128 + 2048 * 128 + 2 * 128 + 2048 * 4));
    // In a long sequence what the indexer adds is less than it saves.
    CHECK(model_flops_per_sequence(sparse, 131072).value() <
          0.6 * model_flops_per_sequence(full, 131072).value());
}

namespace {

Transformer architecture_of(const std::string& text)
{
    return std::get<Transformer>(imported(text).model.architecture);
}

bool assumes(const std::string& text, const std::string& part)
{
    for (const std::string& sentence : imported(text).assumed)
        if (sentence.find(part) != std::string::npos)
            return true;
    return false;
}

} // namespace

TEST_CASE("layers are as many as the list of them where no key counts them")
{
    CHECK(kinds_of_layers(R"("model_type": "nemotron_h", "layers_block_type":
                    ["mamba", "moe", "attention", "mamba", "mlp"], "mamba_num_heads": 64,
                    "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "num_experts": 8,
                    "num_experts_per_tok": 2, "time_step_limit": [0.0, 1e308])") ==
          "2 mamba2, 1 experts, 1 attention, 1 mlp");
}

TEST_CASE("a list of windows counts before the size of chunks beside it")
{
    CHECK(kinds_of_layers(R"("model_type": "mimo_v2_flash", "num_hidden_layers": 3,
                    "sliding_window": 128, "attention_chunk_size": 128,
                    "hybrid_layer_pattern": [0, 1, 1])") ==
          "1 attention + mlp, 2 window of 128 + mlp");
}

TEST_CASE("layers of a type with a window see one, whatever else its name says")
{
    CHECK(kinds_of_layers(R"("model_type": "inkling_text", "num_hidden_layers": 3,
                    "sliding_window_size": 512,
                    "layer_types": ["hybrid_sliding", "hybrid", "hybrid_sliding"])") ==
          "2 window of 512 + mlp, 1 attention + mlp");
    CHECK(kinds_of_layers(R"("model_type": "modernbert", "num_hidden_layers": 3,
                    "local_attention": 128, "max_position_embeddings": 8192,
                    "layer_types": ["full_attention", "sliding_attention", "sliding_attention"])") ==
          "1 attention + mlp, 2 window of 128 + mlp");
}

TEST_CASE("linear attention with heads of its own is Kimi's")
{
    CHECK(kinds_of_layers(R"("model_type": "kimi_linear", "num_hidden_layers": 2,
                    "kv_lora_rank": 512, "qk_nope_head_dim": 64, "qk_rope_head_dim": 64,
                    "v_head_dim": 64, "linear_num_heads": 16, "linear_head_dim": 64,
                    "layer_types": ["linear_attention", "full_attention"])") ==
          "1 kimi delta attention + mlp, 1 latent attention + mlp");
}

TEST_CASE("layers that share an indexer's choice have none of their own")
{
    const std::string text = R"("model_type": "glm_moe_dsa", "num_hidden_layers": 3,
        "kv_lora_rank": 512, "q_lora_rank": 1024, "qk_nope_head_dim": 64, "qk_rope_head_dim": 64,
        "v_head_dim": 64, "index_topk": 2048, "index_n_heads": 4, "index_head_dim": 128,
        "layer_types": ["indexed_attention", "indexed_attention", "indexed_attention"],
        "indexer_types": ["full", "shared", "shared"])";
    CHECK(kinds_of_layers(text) ==
          "1 sparse attention of 2048 + mlp, 2 latent attention in a window of 2048 + mlp");
    CHECK_FALSE(assumes(text, "full attention"));
}

TEST_CASE("DeepSeek-V4's keys are compressed as a list or the types of layers say")
{
    const std::string sizes_of_v4 = R"("model_type": "deepseek_v4", "num_hidden_layers": 3,
        "q_lora_rank": 1024, "o_lora_rank": 512, "sliding_window": 128, )";
    const std::string words = "1 window of 128 + mlp, 1 keys of 128 tokens + mlp, "
                              "1 keys of 4 tokens + mlp";
    CHECK(kinds_of_layers(sizes_of_v4 + R"("compress_ratios": [0, 128, 4])") == words);
    CHECK(kinds_of_layers(sizes_of_v4 + R"("layer_types": ["sliding_attention",
            "heavily_compressed_attention", "compressed_sparse_attention"],
            "compress_rates": {"heavily_compressed_attention": 128,
                               "compressed_sparse_attention": 4})") == words);
}

TEST_CASE("what the configuration of a layer by itself says is of that layer")
{
    const Transformer t = architecture_of(R"("model_type": "gemma4", "num_hidden_layers": 3,
        "per_layer_config": {"01": {"head_dim": 512, "intermediate_size": 1024}})");
    REQUIRE(t.layer_forms.size() == 2);
    CHECK(t.pattern[0] == t.pattern[2]);
    CHECK(t.layer_forms[1].head_dim == 512);
    CHECK(t.layer_forms[1].ffn == 1024);
}

TEST_CASE("the whole of a config says whether embedding and logits share a matrix")
{
    const auto ties = [&](const std::string& whole, const std::string& family,
                          const std::string& part) {
        const Checked<Json> json = parse_json(
            "{" + whole + R"("model_type": ")" + family + R"(", "text_config": {)" + sizes +
                R"("num_hidden_layers": 2, )" + part + R"("model_type": "qwen2"}})",
            "config.json");
        return std::get<Transformer>(import_model(*json, "config.json")->model.architecture)
            .tied_embeddings;
    };
    const std::string tied = R"("tie_word_embeddings": true, )";
    const std::string untied = R"("tie_word_embeddings": false, )";
    CHECK(ties("", "internvl", tied));
    CHECK(ties(tied, "internvl", ""));
    CHECK(ties(tied, "internvl", untied));
    CHECK_FALSE(ties(untied, "internvl", tied));
    CHECK(ties(untied, "llava_onevision", tied));
}

TEST_CASE("a model whose class makes scores has no matrix of logits")
{
    const std::string text = R"("model_type": "llama", "num_hidden_layers": 2, )";
    const auto parameters = [&](const std::string& name) {
        return count_parameters(imported(text + R"("architectures": [")" + name + R"("])").model)
            .total;
    };
    const double logits = 2048.0 * 1000;
    CHECK(parameters("LlamaForCausalLM") - parameters("LlamaForSequenceClassification") == logits);
    CHECK(parameters("LlamaForCausalLM") - parameters("LlamaModel") == logits);
    CHECK(assumes(text + R"("architectures": ["LlamaForRewardModel"])", "no token reaches"));
}

TEST_CASE("experts that a config denies are none")
{
    CHECK(kinds_of_layers(R"("model_type": "doge", "num_hidden_layers": 2, "is_moe": false,
                    "num_experts": 16384, "num_experts_per_tok": 64)") == "2 attention + mlp");
}

TEST_CASE("Mamba with a rank for its steps is the first, though it has heads")
{
    CHECK(kinds_of_layers(R"("model_type": "zamba", "num_hidden_layers": 3, "n_mamba_heads": 2,
                    "mamba_dt_rank": 128, "mamba_d_state": 16, "attention_hidden_size": 4096,
                    "layers_block_type": ["linear_attention", "hybrid", "linear_attention"])") ==
          "3 mamba, 1 attention + mlp");
    CHECK(kinds_of_layers(R"("model_type": "bamba", "num_hidden_layers": 2, "mamba_d_state": 128,
                    "mamba_n_heads": 64, "mamba_d_head": 64, "attn_layer_indices": null)") ==
          "2 mamba2 + mlp");
}

TEST_CASE("windows and heads of each layer are those of its list")
{
    CHECK(kinds_of_layers(R"("model_type": "phi4flash", "num_hidden_layers": 3, "mlp_bias": false,
                    "sliding_window": [null, 512, null])") ==
          "2 attention + mlp, 1 window of 512 + mlp");
    const Transformer t = architecture_of(R"("model_type": "laguna", "num_hidden_layers": 2,
                    "num_attention_heads_per_layer": [16, 24])");
    REQUIRE(t.layer_forms.size() == 2);
    CHECK(t.layer_forms[1].heads == 24);
}

TEST_CASE("what Meta and Mistral put beside their weights is read as a config")
{
    const auto parameters = [](const std::string& text) {
        const Checked<Json> json = parse_json(text, "params.json");
        return count_parameters(import_model(*json, "params.json")->model).total;
    };
    // Llama 3 8B: 1.3 times two thirds of 16384, to a multiple of 1024, is 14336.
    CHECK(parameters(R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8,
                    "vocab_size": 128256, "multiple_of": 1024, "ffn_dim_multiplier": 1.3,
                    "norm_eps": 1e-5, "rope_theta": 500000})") == 8'030'261'248);
    // Mixtral 8x7B.
    CHECK(parameters(R"({"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336,
                    "n_heads": 32, "n_kv_heads": 8, "norm_eps": 1e-5, "vocab_size": 32000,
                    "moe": {"num_experts_per_tok": 2, "num_experts": 8}})") == 46'702'792'704);
}

TEST_CASE("lists of layers may go on with those that predict further")
{
    const std::string text = R"("model_type": "step3p5", "num_hidden_layers": 3,
        "num_nextn_predict_layers": 1, "sliding_window": 512, "layer_types": ["full_attention",
        "sliding_attention", "sliding_attention", "sliding_attention"],
        "attention_other_setting": {"attention_type": "sliding_attention",
                                    "num_attention_heads": 24, "num_attention_groups": 8,
                                    "head_dim": 64}, "moe_layers_enum": "1,2",
        "moe_num_experts": 8, "moe_top_k": 2, "moe_intermediate_size": 512, "use_moe": true)";
    CHECK(kinds_of_layers(text) == "1 attention + mlp, 2 window of 512 + experts, "
                                   "1 attention + mlp (predicts further)");
    CHECK(architecture_of(text).layer_forms[1].heads == 24);
    CHECK(architecture_of(text).layer_forms[1].head_dim == 64);
}

TEST_CASE("experts under keys that are not known are said to be left out")
{
    const std::string text = R"("model_type": "zorglub", "num_hidden_layers": 2, )";
    CHECK(assumes(text + R"("use_moe": true, "routed_expert_total": 64)",
                  "\"use_moe\", \"routed_expert_total\""));
    CHECK_FALSE(assumes(text + R"("num_experts_per_tok": 2, "num_experts": 0)", "experts"));
    CHECK(kinds_of_layers(text + R"("use_moe": true, "moe_config": {"moe_num_experts": 32,
                    "moe_top_k": 2}, "hidden_act": "silu")") == "2 attention + experts");
}

TEST_CASE("a model of images whose text's sizes are the config's is said to be read in part")
{
    const std::string text = R"("model_type": "qwen2_5_vl", "num_hidden_layers": 2, )";
    CHECK(
        assumes(text + R"("vision_config": {"depth": 32, "hidden_size": 1280})", "only the text"));
    CHECK_FALSE(assumes(text + R"("vision_config": null)", "only the text"));
}
