// Configs of published models, cut to their sizes (tests/models/published.json), against the
// parameters that their cards or checkpoints state.

#include "sim/base/build_info.h"
#include "sim/base/json.h"
#include "sim/workload/layer_work.h"
#include "sim/workload/model_reader.h"
#include "sim/workload/model_summary.h"
#include "sim/workload/parameters.h"
#include "tests/catch.h"

#include <fmt/core.h>

using namespace trainyard;

namespace {

struct PublishedModel {
    std::string name;
    double parameters = 0;
    double active = 0; // 0: not stated
    Json config;
};

std::vector<PublishedModel> published_configs()
{
    const std::string path = (data_dir() / "tests/models/published.json").string();
    const Checked<Json> list = read_json_file(path);
    REQUIRE(list);
    std::vector<PublishedModel> models;
    for (const Json& one : list->items()) {
        const Json* active = one.find("active");
        models.push_back({one.find("model")->as_string(), 1e9 * one.find("billions")->as_double(),
                          active == nullptr ? 0 : 1e9 * active->as_double(), *one.find("config")});
    }
    return models;
}

ImportedModel read_config(const Json& config)
{
    const Checked<ImportedModel> read = import_model(config, "some-model/config.json");
    if (!read)
        FAIL(render(read.error(), ""));
    return *read;
}

ImportedModel read_config_text(const std::string& text)
{
    const Checked<Json> json = parse_json(text, "some-model/config.json");
    REQUIRE(json);
    return read_config(*json);
}

Problems config_problems(const std::string& text)
{
    const Checked<Json> json = parse_json(text, "some-model/config.json");
    REQUIRE(json);
    const Checked<ImportedModel> read = import_model(*json, "some-model/config.json");
    REQUIRE_FALSE(read);
    return read.error();
}

bool assumes(const ImportedModel& read, const std::string& part)
{
    return std::ranges::any_of(read.assumed, [&](const std::string& sentence) {
        return sentence.find(part) != std::string::npos;
    });
}

} // namespace

TEST_CASE("configs of 2019 to 2026 have the parameters that were published for them")
{
    for (const PublishedModel& published : published_configs()) {
        CAPTURE(published.name);
        const ImportedModel read = read_config(published.config);
        const ParameterCount count = count_parameters(read.model);
        CHECK_THAT(count.total, WithinRel(published.parameters, 0.01));
        if (published.active > 0) {
            // Some cards count the embeddings among a token's parameters, some do not.
            CHECK(count.active < 1.06 * published.active + 2 * count.embedding);
            CHECK(count.active > 0.94 * published.active);
        }
    }
}

TEST_CASE("the parameters of a model are the sum of its layers' tensors")
{
    for (const PublishedModel& published : published_configs()) {
        CAPTURE(published.name);
        const Model model = read_config(published.config).model;
        const Transformer& t = std::get<Transformer>(model.architecture);
        double sum = 0;
        double held = 0;
        const Partition whole;
        for (const LayerKind& kind : layers_of(model))
            for (const ParameterTensor& tensor : parameter_tensors(t, kind)) {
                if (tensor.rows > 0)
                    CHECK(tensor.rows * tensor.columns * tensor.copies == tensor.elements);
                sum += tensor.shared ? 0 : tensor.elements;
                held += held_elements(tensor, t, whole);
            }
        CHECK(count_parameters(model).total == sum);
        CHECK_THAT(held, WithinRel(sum, 1e-12));
        double grouped = 0;
        for (const LayerGroup& group : summarize(model, 512).groups)
            grouped += group.layers * group.parameters;
        CHECK_THAT(grouped, WithinRel(sum, 1e-12));
    }
}

TEST_CASE("every published model has work for each of its layers, whole and cut")
{
    for (const PublishedModel& published : published_configs()) {
        CAPTURE(published.name);
        const Model model = read_config(published.config).model;
        for (const auto& [tp, cp] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
            Partition p;
            p.sequence_length = 512;
            p.tp = tp;
            p.cp = cp;
            std::vector<LayerKind> seen;
            for (const LayerKind& kind : layers_of(model)) {
                if (std::ranges::find(seen, kind) != seen.end())
                    continue;
                seen.push_back(kind);
                const LayerWork work = layer_work(model, kind, p);
                CHECK_FALSE(work.forward.empty());
                CHECK(work.parameters.total() >= 0);
                CHECK(work.saved.none >= work.saved.full);
            }
        }
    }
}

TEST_CASE("a family renamed to nonsense keeps its layers where the keys say all")
{
    // Llama's kin and mixtures: the keys that configs of these families have say all that counts.
    for (const char* name : {"llama-3.2-1b", "glm-4-9b-0414", "yi-6b", "dots1", "hunyuan-a13b",
                             "ernie-4.5-300b-a47b", "granite-3.0-8b", "jamba-v0.1", "bamba-9b",
                             "mimo-v2-flash", "longcat-flash", "falcon-h1-7b", "apertus-8b"})
        for (const PublishedModel& published : published_configs()) {
            if (published.name != name)
                continue;
            CAPTURE(name);
            Json renamed = published.config;
            renamed["model_type"] = "zorglub";
            const ImportedModel known = read_config(published.config);
            const ImportedModel unknown = read_config(renamed);
            CHECK(known.model.family_known);
            CHECK_FALSE(unknown.model.family_known);
            CHECK_THAT(count_parameters(unknown.model).total,
                       WithinRel(count_parameters(known.model).total, 0.01));
            CHECK(assumes(unknown, "\"zorglub\" is not known"));
        }
}

TEST_CASE("what is not modelled of a family is said by name")
{
    const std::string bert = R"("hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 50265,
        "max_position_embeddings": 4098, "type_vocab_size": 1)";
    CHECK(assumes(read_config_text(R"({"model_type": "longformer", )" + bert + "}"),
                  "global tokens"));
    const std::string llama = R"("hidden_size": 1024, "num_hidden_layers": 4,
        "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 4096,
        "vocab_size": 32000, "rms_norm_eps": 1e-6)";
    // Sizes of a mixer, and nothing that says which layers have it.
    const ImportedModel hybrid = read_config_text(
        R"({"model_type": "zorglub", "mamba_d_conv": 4, "lru_width": 512, )" + llama + "}");
    CHECK(assumes(hybrid, "\"mamba_d_conv\", \"lru_width\" may speak of are not told apart"));
    CHECK(assumes(
        read_config_text(R"({"model_type": "llama", "layer_types": ["full_attention", "retention",
        "full_attention", "full_attention"], )" +
                         llama + "}"),
        "layers of type \"retention\" are read as full attention"));
    CHECK(assumes(
        read_config_text(R"({"model_type": "zorglub", "mamba_d_ssm": 1024, "mamba_d_state": 64,
        "mamba_n_heads": 16, )" +
                         llama + "}"),
        "Mamba beside attention in each layer"));
    CHECK(assumes(
        read_config_text(R"({"model_type": "llama", "hidden_act": "wobble", )" + llama + "}"),
        "activation \"wobble\" works like silu"));
    // Sizes of layers that no form tells apart.
    CHECK(assumes(
        read_config_text(R"({"model_type": "llama", "head_dim": [64, 64, 32, 64], )" + llama + "}"),
        "\"head_dim\" differs from layer to layer"));
}

TEST_CASE("what another model would be read from is refused with the reason")
{
    struct Refused {
        const char* text;
        const char* pointer;
        const char* message;
    };
    for (const Refused& refused :
         {Refused{R"({"model_type": "rwkv", "hidden_size": 768, "num_hidden_layers": 12,
                     "attention_hidden_size": 768, "vocab_size": 50277, "rescale_every": 6})",
                  "/rescale_every", "layers mix tokens by RWKV's time mix, which is not modelled"},
          Refused{R"({"model_type": "xlstm", "hidden_size": 4096, "num_hidden_layers": 32,
                     "num_heads": 8, "qk_dim_factor": 0.5, "vocab_size": 50304})",
                  "/qk_dim_factor", "layers mix tokens by xLSTM, which is not modelled"},
          Refused{R"({"model_type": "swin", "embed_dim": 96, "depths": [2, 2, 6, 2],
                     "num_heads": [3, 6, 12, 24], "image_size": 224, "patch_size": 4})",
                  "/depths", "stages of different widths are not modelled"},
          Refused{R"({"model_type": "switch_transformers", "d_model": 768, "d_ff": 3072,
                     "num_layers": 12, "num_heads": 12, "vocab_size": 32128, "num_experts": 8,
                     "is_encoder_decoder": true})",
                  "/num_experts", "experts in an encoder are not modelled"}})
    {
        CAPTURE(refused.text);
        const Problems found = config_problems(refused.text);
        REQUIRE(found.size() == 1);
        CHECK(found[0].pointer == refused.pointer);
        CHECK(found[0].message == refused.message);
        CHECK_FALSE(found[0].hint.empty());
    }
}

TEST_CASE("values of a wrong kind in a config are refused at their place")
{
    const auto with = [](const std::string& key, const std::string& value) {
        return R"({"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4,
            "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 4096,
            "num_experts": 4, "num_experts_per_tok": 2, "vocab_size": 32000, ")" +
               key + "\": " + value + "}";
    };
    struct Wrong {
        std::string text;
        const char* pointer;
    };
    for (const Wrong& wrong :
         {Wrong{with("block_configs", "\"none\""), "/block_configs"},
          Wrong{with("block_configs", "[1, 2, 3, 4]"), "/block_configs/0"},
          Wrong{with("block_configs", R"([{"attention": {"n_heads_in_group": "8"}}, {}, {}, {}])"),
                "/block_configs/0"},
          Wrong{with("block_configs", R"([{"ffn": {"ffn_mult": -1}}, {}, {}, {}])"),
                "/block_configs/0"},
          Wrong{with("mlp_layer_types", R"(["dense", "spares", "sparse", "sparse"])"),
                "/mlp_layer_types/1"},
          Wrong{with("kda_layers", "[1, 5]"), "/kda_layers/1"},
          Wrong{with("moe_layers_enum", "\"1,9\""), "/moe_layers_enum"},
          Wrong{with("moe_layers_enum", "\"one\""), "/moe_layers_enum"},
          Wrong{with("compress_ratios", "[0, 4, 128, 4]"), "/compress_ratios/0"},
          Wrong{with("attention_chunk_size", R"(256, "no_rope_layers": [1, 0])"),
                "/no_rope_layers"},
          Wrong{with("sliding_window_pattern", R"("LX", "sliding_window": 128)"),
                "/sliding_window_pattern"},
          Wrong{with("sliding_window", "0"), "/sliding_window"},
          Wrong{with("head_dim", "[64, \"64\"]"), "/head_dim/1"},
          Wrong{with("ffn_multipliers", "[1, 2, 3, \"4\"]"), "/ffn_multipliers/3"},
          Wrong{R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
                   "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 16,
                   "patch_size": 32})",
                "/patch_size"},
          Wrong{R"({"model_type": "llama", "num_hidden_layers": 12, "num_attention_heads": 12,
                   "num_key_value_heads": 12, "intermediate_size": 3072, "vocab_size": 100})",
                "/hidden_size"},
          Wrong{R"({"text_config": {"model_type": "granite", "hidden_size": 768,
                   "num_hidden_layers": 12, "num_attention_heads": 12, "num_key_value_heads": 12,
                   "vocab_size": 100}})",
                "/text_config/intermediate_size"}})
    {
        CAPTURE(wrong.text);
        const Problems found = config_problems(wrong.text);
        REQUIRE_FALSE(found.empty());
        CHECK(found[0].pointer == wrong.pointer);
        CHECK_FALSE(found[0].hint.empty());
    }
    // The engine's own words for forms are not the config's.
    const Problems experts = config_problems(
        R"({"model_type": "nemotron_h", "hidden_size": 1024, "num_hidden_layers": 2,
            "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 4096,
            "vocab_size": 32000, "hybrid_override_pattern": "*E"})");
    REQUIRE(experts.size() == 1);
    CHECK(experts[0].message == "some layers have experts, whose number is not given");
}

TEST_CASE("a model that is a part of a config has its family's sizes where these say nothing")
{
    const ImportedModel read = read_config_text(R"({"model_type": "gemma3", "text_config":
        {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
         "intermediate_size": 10240, "sliding_window": 1024}})");
    CHECK(count_parameters(read.model).total == 3'880'263'168); // Gemma 3 4B without its encoder
    CHECK(assumes(read, "\"num_attention_heads\" 8, \"num_key_value_heads\" 4"));
}

TEST_CASE("sizes that differ by layer are those of the layers")
{
    const ImportedModel read = read_config_text(R"({"model_type": "openelm", "model_dim": 1024,
        "num_transformer_layers": 2, "head_dim": 64, "num_query_heads": [12, 16],
        "num_kv_heads": [3, 4], "ffn_multipliers": [0.5, 1.0], "ffn_dim_divisor": 256,
        "vocab_size": 1000, "share_input_output_layers": true, "rms_norm_eps": 1e-6,
        "activation_fn_name": "swish"})");
    const double first = 1024.0 * 64 * (2 * 12 + 2 * 3) + 3 * 1024 * 512;
    const double second = 1024.0 * 64 * (2 * 16 + 2 * 4) + 3 * 1024 * 1024;
    CHECK(count_parameters(read.model).total == first + second + 1000 * 1024 + 5 * 1024);
}

TEST_CASE("a table of tokens for each layer counts once and reaches each layer")
{
    const std::string sizes = R"({"model_type": "gemma4_text", "hidden_size": 1536,
        "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 1,
        "head_dim": 256, "intermediate_size": 6144, "vocab_size": 1000, "sliding_window": 512,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
                        "full_attention"])";
    const double plain = count_parameters(read_config_text(sizes + "}").model).total;
    const double embedded =
        count_parameters(read_config_text(sizes + R"(, "hidden_size_per_layer_input": 256})").model)
            .total;
    // The table, its projection and norm; a gate, a matrix and a norm per layer.
    CHECK(embedded - plain ==
          1000.0 * 4 * 256 + 1536.0 * 4 * 256 + 256 + 4 * (2 * 1536.0 * 256 + 1536));
    // The last two attend to earlier keys: no matrices of keys and values, twice the MLP.
    const double sharing =
        count_parameters(
            read_config_text(sizes + R"(, "num_kv_shared_layers": 2, "use_double_wide_mlp": true})")
                .model)
            .total;
    CHECK(sharing - plain == 2 * (3 * 1536.0 * 6144 - 2 * 1536.0 * 256));
}
