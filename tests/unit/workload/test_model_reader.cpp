#include "sim/base/json.h"
#include "sim/workload/model_reader.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;

namespace {

Checked<ImportedModel> import(std::string_view text)
{
    const Checked<Json> json = parse_json(text, "some-model/config.json");
    REQUIRE(json);
    return import_model(*json, "some-model/config.json");
}

Transformer transformer(std::string_view text)
{
    const Checked<ImportedModel> read = import(text);
    REQUIRE(read);
    return std::get<Transformer>(read->model.architecture);
}

double parameters(std::string_view text)
{
    const Checked<ImportedModel> read = import(text);
    REQUIRE(read);
    return count_parameters(read->model).total;
}

Problems problems(std::string_view text)
{
    const Checked<ImportedModel> read = import(text);
    REQUIRE_FALSE(read);
    return read.error();
}

} // namespace

TEST_CASE("what a native model writes, it reads back as the same model")
{
    for (const Model& model : {Model{"dense", test::llama_70b()}, Model{"moe", test::mixtral()},
                               Model{"gpt", test::gpt(1024, 24, 16)}})
    {
        const Checked<Model> again = read_model(write_model(model), "m.json");
        REQUIRE(again);
        CHECK(*again == model);
    }
    NativeLayer layer;
    layer.name = "pool";
    layer.output_elements = 7;
    const Model list{"list", LayerList{{layer}, 12}};
    CHECK(read_model(write_model(list), "m.json").value() == list);
}

TEST_CASE("sizes a native transformer leaves out follow from the others")
{
    const Transformer t = transformer(
        R"({"format": "trainyard.model/1", "transformer":
            {"hidden": 1024, "layers": 2, "heads": 16, "vocabulary": 1000}})");
    CHECK(t.kv_heads == 16);
    CHECK(t.head_dim == 64);
    CHECK(t.ffn == 4096);
}

TEST_CASE("families of Hugging Face models have their published number of parameters")
{
    CHECK(parameters(R"({"model_type": "gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44,
        "num_attention_heads": 64, "intermediate_size": 24576, "vocab_size": 50432})") ==
          20'554'567'680);                                                      // GPT-NeoX-20B
    CHECK(parameters(R"({"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18,
        "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256,
        "intermediate_size": 16384, "vocab_size": 256000})") == 2'506'172'416); // Gemma 2B
    CHECK(parameters(R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26,
        "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096,
        "intermediate_size": 9216, "vocab_size": 256000})") == 2'614'341'888);  // Gemma 2 2B
    CHECK(parameters(R"({"model_type": "gemma3_text", "hidden_size": 1152, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512,
        "intermediate_size": 6912, "vocab_size": 262144})") == 999'885'952);    // Gemma 3 1B
    CHECK(parameters(R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 51200})") ==
          2'779'683'840);                                                       // Phi-2
    CHECK(parameters(R"({"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192,
        "vocab_size": 32064})") == 3'821'079'552);                              // Phi-3 mini
    CHECK(parameters(R"({"model_type": "opt", "hidden_size": 2048, "num_hidden_layers": 24,
        "num_attention_heads": 32, "ffn_dim": 8192, "vocab_size": 50272,
        "max_position_embeddings": 2048})") == 1'315'758'080);                  // OPT-1.3B
    CHECK(parameters(R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
        "num_attention_heads": 71, "vocab_size": 65024})") == 6'921'720'704);   // Falcon-7B
    CHECK(parameters(R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "n_head": 16,
        "vocab_size": 250880})") == 559'214'592);                               // BLOOM-560m
    CHECK(parameters(R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
        "vocab_size": 152064})") == 7'615'616'512);                             // Qwen2 7B
    CHECK(parameters(R"({"model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 12288, "vocab_size": 151936})") == 8'190'735'360); // Qwen3 8B
    CHECK(parameters(R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "sliding_window": 4096, "vocab_size": 32000})") == 7'241'732'096);      // Mistral 7B
}

TEST_CASE("MoE configs name experts, shared experts and leading dense layers in many ways")
{
    // Qwen1.5-MoE-A2.7B and DeepSeekMoE-16B.
    CHECK(parameters(R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
        "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
        "num_experts": 60, "num_experts_per_tok": 4, "decoder_sparse_step": 1,
        "vocab_size": 151936})") == 14'315'784'192);
    CHECK(parameters(R"({"model_type": "deepseek", "hidden_size": 2048, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
        "moe_intermediate_size": 1408, "n_shared_experts": 2, "n_routed_experts": 64,
        "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1,
        "vocab_size": 102400})") == 16'375'728'128);
}

TEST_CASE("keys that a config leaves out are assumed, and it says so")
{
    const Checked<ImportedModel> read =
        import(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
                   "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000,
                   "rope_theta": 10000.0})");
    REQUIRE(read);
    const Transformer& t = std::get<Transformer>(read->model.architecture);
    CHECK(t.kv_heads == 32);
    CHECK(t.head_dim == 128);
    CHECK(read->assumed == std::vector<std::string>{"key heads: as many as query heads, 32"});
    CHECK(read->ignored == std::vector<std::string>{"rope_theta"});
    CHECK(read->model.name == "some-model");
}

TEST_CASE("the text part of a multimodal model is read")
{
    const Checked<ImportedModel> read = import(R"({"model_type": "llava", "vision_config": {},
        "text_config": {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
                        "num_attention_heads": 32, "num_key_value_heads": 8,
                        "intermediate_size": 14336, "vocab_size": 128256}})");
    REQUIRE(read);
    CHECK(count_parameters(read->model).total == 8'030'261'248);
    CHECK(read->assumed.back() == "only the text part of the model is trained");

    const Problems bad =
        problems(R"({"text_config": {"model_type": "llama", "hidden_size": "4096"}})");
    CHECK(bad[0].pointer == "/text_config/hidden_size");
}

TEST_CASE("a fine-tuned BERT has no logits, one in pre-training those of its masked tokens")
{
    const std::string rest = R"(, "hidden_size": 1024, "num_hidden_layers": 24,
        "num_attention_heads": 16, "intermediate_size": 4096, "max_position_embeddings": 512,
        "vocab_size": 30522})";
    CHECK(transformer(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"])" + rest)
              .head_fraction == 0.15);
    CHECK(transformer(R"({"model_type": "bert", "architectures": ["BertForQuestionAnswering"])" +
                      rest)
              .head_fraction == 0);
}

namespace {

// DeepSeek-V2-Lite: no query latent.
std::string deepseek(const std::string& front, const std::string& more)
{
    return R"({"model_type": "deepseek_v2", )" + front + R"( "hidden_size": 2048,
        "num_hidden_layers": 27, "num_attention_heads": 16, "intermediate_size": 10944,
        "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2,
        "num_experts_per_tok": 6, "first_k_dense_replace": 1,  
        "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400)" +
           more + "}";
}

} // namespace

TEST_CASE("DeepSeek's attention is read from its ranks and head sizes")
{
    const Transformer lite = transformer(deepseek("", ""));
    CHECK(lite.latent == LatentAttention{0, 512, 128, 64, 128});
    CHECK(lite.head_dim == 192);
    CHECK(lite.kv_heads == 16);
    CHECK(lite.moe->shared_expert_ffn == 2 * 1408);
    CHECK(count_parameters(Model{"", lite}).total == 15'706'484'224); // "16B" (V2-Lite's card)

    const Transformer limited = transformer(deepseek(R"("n_group": 8, "topk_group": 4,)", ""));
    CHECK(limited.moe->groups_per_token == 4);
    const Problems missing = problems(
        R"({"model_type": "deepseek_v3", "hidden_size": 64, "num_hidden_layers": 1, "vocab_size": 8,
            "num_attention_heads": 2, "intermediate_size": 64})");
    REQUIRE(missing.size() == 1);
    CHECK(missing[0].message == "\"kv_lora_rank\" is missing");
    CHECK_THAT(problems(deepseek("", R"(, "topk_method": "x", "num_nextn_predict_layers": -1)"))
                   .at(0)
                   .message,
               ContainsSubstring("out of range"));
}

TEST_CASE("models that cannot be simulated are refused with the reason")
{
    // Nothing says how wide, how deep, or of how many heads.
    const Problems unknown = problems(R"({"model_type": "llamma"})");
    REQUIRE(unknown.size() >= 3);
    CHECK_THAT(unknown[0].message, ContainsSubstring("\"hidden_size\" is missing"));
    CHECK(problems("[1]")[0].message == "expected a model, found a list");
    CHECK_THAT(problems("{}")[0].message, ContainsSubstring("this is no model"));
    CHECK(problems(R"({"format": "trainyard.scenario/1"})")[0].pointer == "/format");
}

TEST_CASE("all problems of a config are reported at once")
{
    const Problems bad = problems(R"({"model_type": "llama", "hidden_size": -4,
        "num_hidden_layers": 2.5, "num_attention_heads": 32, "tie_word_embeddings": "yes",
        "intermediate_size": 99999999999999})");
    std::vector<std::string> pointers;
    for (const Diagnostic& problem : bad)
        pointers.push_back(problem.pointer);
    const std::vector<std::string> expected{"/hidden_size", "/num_hidden_layers", "/vocab_size",
                                            "/intermediate_size", "/tie_word_embeddings"};
    CHECK_THAT(pointers, Catch::Matchers::UnorderedEquals(expected));
}

TEST_CASE("sizes beyond any model are refused before work is made of them")
{
    const Problems deep = problems(R"({"model_type": "llama", "hidden_size": 8, "vocab_size": 8,
        "num_hidden_layers": 1000000, "num_attention_heads": 1, "intermediate_size": 8})");
    REQUIRE(deep.size() == 1);
    CHECK(deep[0].pointer == "/num_hidden_layers");
    CHECK(deep[0].hint == "from 1 to 10000");
    CHECK(problems(R"({"format": "trainyard.model/1", "layer_list": {"layers":
        [{"name": "a", "repeat": 2000000}]}})")[0]
              .pointer == "/layer_list/layers/0/repeat");
}

TEST_CASE("sizes that contradict each other are refused")
{
    const auto llama = [](const std::string& more) {
        return R"({"model_type": "llama", "num_hidden_layers": 2, "intermediate_size": 128,
                   "vocab_size": 100, )" +
               more + "}";
    };
    CHECK(problems(llama(R"("hidden_size": 100, "num_attention_heads": 32)"))[0].message ==
          "hidden size 100 is no multiple of 32 heads");
    CHECK(problems(llama(R"("hidden_size": 128, "num_attention_heads": 32,
                            "num_key_value_heads": 5)"))[0]
              .message == "5 key heads do not divide 32 query heads");
    CHECK(problems(R"({"model_type": "mixtral", "hidden_size": 128, "num_hidden_layers": 2,
                       "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 10,
                       "num_local_experts": 4, "num_experts_per_tok": 8})")[0]
              .message == "a token is sent to 8 of 4 experts");
}

TEST_CASE("every problem of a config.json stands at its key and says what would be right")
{
    const std::string good = R"("hidden_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 10)";
    for (const auto& [fault, pointer] : std::initializer_list<std::pair<std::string, std::string>>{
             {R"("model_type": 5)", "/model_type"},
             {R"("model_type": "llama", "hidden_act": 1)", "/hidden_act"},
             {R"("model_type": "llama", "num_key_value_heads": 3)", "/num_key_value_heads"},
             {R"("model_type": "llama", "head_dim": "64")", "/head_dim"},
             {R"("model_type": "llama", "mlp_bias": "no")", "/mlp_bias"},
             {R"("model_type": "bloom", "hidden_dropout": 10)", "/hidden_dropout"},
             {R"("model_type": "mistral", "sliding_window": 0)", "/sliding_window"},
             {R"("model_type": "gpt_oss", "layer_types": ["full_attention"])", "/layer_types"},
             {R"("model_type": "gpt_oss", "layer_types": ["full_attention", "sliding_attention"])",
              "/layer_types/1"},
             {R"("model_type": "nemotron_h", "hybrid_override_pattern": "*Q")",
              "/hybrid_override_pattern"},
             {R"("model_type": "llama", "sliding_window_pattern": "LG")",
              "/sliding_window_pattern"},
             {R"("model_type": "llama", "use_mtp": true, "num_mtp_modules": 1000000)",
              "/num_mtp_modules"},
             {R"("model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 8)",
              "/num_experts_per_tok"},
             {R"("model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 2,
                 "mlp_only_layers": 1)",
              "/mlp_only_layers"}})
    {
        INFO(fault);
        const Problems found = problems("{" + good + ", " + fault + "}");
        REQUIRE(found.size() == 1);
        CHECK(found[0].pointer == pointer);
        CHECK_FALSE(found[0].hint.empty());
    }
}

TEST_CASE("a native model has exactly one architecture, and whole matrix products")
{
    CHECK(problems(R"({"format": "trainyard.model/1", "name": "x"})")[0].message ==
          "neither \"transformer\" nor \"layer_list\" is given");
    CHECK(problems(R"({"format": "trainyard.model/1", "layer_list": {"layers": []}})")[0].pointer ==
          "/layer_list/layers");
    const Problems part = problems(
        R"({"format": "trainyard.model/1",
            "layer_list": {"layers": [{"name": "a"}, {"name": "b", "rows": 4}]}})");
    CHECK(part[0].pointer == "/layer_list/layers/1");
    const Problems wrong = problems(
        R"({"format": "trainyard.model/1", "transformer": {"hiden": 8, "heads": "many"}})");
    CHECK(wrong[0].hint == "did you mean \"hidden\"?");
    CHECK(wrong.size() == 5); // hiden; heads; hidden, layers and vocabulary missing
}
