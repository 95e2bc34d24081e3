// What each family of Hugging Face models fixes beyond the common keys.

#include "sim/base/json.h"
#include "sim/base/reader.h"
#include "sim/workload/huggingface.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// Llama and its kin: RMSNorm, rotary, SwiGLU, no biases. The defaults of Transformer.
Transformer llama_like()
{
    return {};
}

// GPT-2 and its kin: LayerNorm, GELU, biases everywhere.
Transformer gpt_like()
{
    Transformer t;
    t.gated_mlp = false;
    t.linear_bias = true;
    t.tied_embeddings = true;
    t.norm = NormKind::layer_norm;
    t.position = PositionKind::learned;
    t.activation = Activation::gelu;
    return t;
}

template <class Change>
Transformer changed(Transformer base, Change change)
{
    change(base);
    return base;
}

void read_biases(HfConfig& config, Transformer& t)
{
    t.attention_bias = t.attention_output_bias = config.flag("attention_bias", false);
    t.mlp_bias = config.flag("mlp_bias", false);
}

void refine_llama(HfConfig& config, Transformer& t)
{
    read_biases(config, t);
}

void refine_latent(HfConfig& config, Transformer& t)
{
    read_biases(config, t);
    config.required({"kv_lora_rank"});
}

void refine_qwen(HfConfig& config, Transformer& t)
{
    t.attention_bias = config.flag("attention_bias", t.attention_bias);
    if (!config.flag("use_sliding_window", false))
        t.sliding_window = 0;
    else if (t.sliding_window > 0 && t.pattern.empty())
        config.assume("the sliding window of the upper layers is that of all layers");
}

void refine_dropout(HfConfig& config, Transformer& t, const std::vector<std::string>& keys,
                    double otherwise)
{
    double largest = 0;
    for (const std::string& key : keys)
        largest = std::max(largest, config.share(key, otherwise));
    t.dropout = largest > 0;
}

void refine_gpt2(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"resid_pdrop", "attn_pdrop"}, 0.1);
}

void refine_gpt_neox(HfConfig& config, Transformer& t)
{
    t.parallel_blocks = config.flag("use_parallel_residual", true);
    refine_dropout(config, t, {"hidden_dropout", "attention_dropout"}, 0);
}

void refine_opt(HfConfig& config, Transformer& t)
{
    t.max_positions += 2; // its position table starts at 2
    const std::int64_t width = config.number({"word_embed_proj_dim"}).value_or(t.hidden);
    if (width != t.hidden)
        t.embedding_width = width;
    t.linear_bias = config.flag("enable_bias", true);
    t.final_norm = config.flag("do_layer_norm_before", true);
    refine_dropout(config, t, {"dropout", "attention_dropout"}, 0.1);
}

void refine_gpt_j(HfConfig& config, Transformer& t)
{
    t.attention_bias = t.attention_output_bias = false;
    t.mlp_bias = true;
    refine_dropout(config, t, {"resid_pdrop", "attn_pdrop"}, 0);
}

void refine_big_code(HfConfig& config, Transformer& t)
{
    if (config.flag("multi_query", true))
        t.kv_heads = 1;
    refine_dropout(config, t, {"resid_pdrop", "attn_pdrop"}, 0.1);
}

// Biases only where "no_bias" denies none.
void refine_mpt(HfConfig& config, Transformer& t)
{
    t.linear_bias = !config.flag("no_bias", true);
    t.position = config.flag("alibi", true) ? PositionKind::none : PositionKind::learned;
    if (t.position == PositionKind::learned)
        t.max_positions = config.required({"max_seq_len"});
}

void refine_chatglm(HfConfig& config, Transformer& t)
{
    t.attention_bias = config.flag("add_qkv_bias", true);
    t.linear_bias = config.flag("add_bias_linear", false);
}

// QWen's first generation counts gate and up together.
void refine_first_qwen(HfConfig& config, Transformer& t)
{
    t.ffn /= 2;
    t.linear_bias = !config.flag("no_bias", true);
}

void refine_bailing(HfConfig& config, Transformer& t)
{
    t.attention_bias = config.flag("use_qkv_bias", false);
    t.attention_output_bias = config.flag("use_bias", false);
}

// Sinks take part in each head's softmax; all matrices have biases.
void refine_gpt_oss(HfConfig& config, Transformer& t)
{
    t.attention_bias = t.attention_output_bias = config.flag("attention_bias", true);
}

void refine_olmo_checkpoint(HfConfig& config, Transformer& t)
{
    t.tied_embeddings = config.flag("weight_tying", true);
    t.linear_bias = config.flag("include_bias", false);
    t.vocabulary = std::max(t.vocabulary, config.number({"embedding_size"}).value_or(0));
    t.gated_mlp = config.text("activation_type") == "swiglu";
    if (t.gated_mlp) // gate and up share the size
        t.ffn /= 2;
    t.position = config.flag("rope", false) || config.flag("alibi", false) ? PositionKind::rotary
                                                                           : PositionKind::learned;
    if (t.position == PositionKind::learned)
        t.max_positions = config.required({"max_sequence_length", "max_position_embeddings"});
}

void refine_llama4(HfConfig& config, Transformer& t)
{
    read_biases(config, t);
    if (const auto dense = config.number({"intermediate_size_mlp"}); dense && t.moe) {
        t.moe->expert_ffn = t.ffn;
        t.moe->shared_expert_ffn = t.ffn;
        t.ffn = *dense;
    }
}

void refine_bert(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0.1);
    t.token_types = static_cast<int>(config.count({"type_vocab_size"}, 2));
    bool pretraining = true;
    if (const Json* names = config.reader().node().find("architectures");
        names != nullptr && names->is_array())
        for (const Json& name : names->items())
            if (name.is_string() && name.as_string().find("For") != std::string::npos)
                pretraining = name.as_string().ends_with("ForPreTraining") ||
                              name.as_string().ends_with("ForMaskedLM");
    t.head_fraction = pretraining ? 0.15 : 0;
    config.assume(pretraining ? "pre-training: 15 % of the tokens are masked and reach the logits"
                              : "fine-tuning: no token reaches the vocabulary");
}

// One layer's parameters for all, a narrow table of the vocabulary.
void refine_albert(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.shared_layers = true;
    t.embedding_width = config.number({"embedding_size"}).value_or(0);
}

// Tokens are patches of an image and one that stands for all of it, whose state is classified.
void refine_vit(HfConfig& config, Transformer& t)
{
    const std::int64_t image = config.number({"image_size"}).value_or(224);
    const std::int64_t patch = config.number({"patch_size"}).value_or(16);
    const std::int64_t channels = config.number({"num_channels"}).value_or(3);
    const std::int64_t patches = (image / patch) * (image / patch);
    t.input_elements = channels * patch * patch;
    t.max_positions = patches + 1;
    t.head_fraction = 1.0 / static_cast<double>(patches + 1);
    t.token_types = 1; // the one that stands for all
    refine_dropout(config, t, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0);
    config.assume(fmt::format("images are sequences of {} tokens, classified into {} classes",
                              patches + 1, t.vocabulary));
}

// The source text's encoder is as the decoder, which attends to what it made.
void refine_t5(HfConfig& config, Transformer& t)
{
    const std::string mlp = config.text("feed_forward_proj");
    t.gated_mlp = mlp.starts_with("gated") || config.flag("is_gated_act", false);
    refine_dropout(config, t, {"dropout_rate"}, 0.1);
    for (const char* key : {"relative_attention_num_buckets", "relative_attention_max_distance"})
        config.has(key);
    Encoder encoder;
    encoder.name = "encoder";
    encoder.tokens = config.number({"n_positions"}).value_or(512);
    encoder.hidden = t.hidden;
    encoder.layers = t.layers;
    encoder.heads = t.heads;
    encoder.head_dim = t.head_dim;
    encoder.ffn = t.ffn;
    encoder.gated_mlp = t.gated_mlp;
    encoder.linear_bias = false;
    encoder.norm = t.norm;
    encoder.activation = t.activation;
    t.layers = static_cast<int>(config.number({"num_decoder_layers"}, 10000).value_or(t.layers));
    t.cross_attention = true;
    config.assume(fmt::format("the encoder reads {} tokens beside each sequence of the decoder",
                              encoder.tokens));
    t.encoders.push_back(std::move(encoder));
}

void refine_t5_decoder(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"dropout_rate"}, 0.1);
}

// Two convolutions make frames of 80 or 128 mel bands tokens, the second of every two; as one
// matrix they have the parameters of both.
void refine_whisper(HfConfig& config, Transformer& t)
{
    Encoder encoder;
    encoder.name = "audio";
    encoder.tokens = config.number({"max_source_positions"}).value_or(1500);
    encoder.hidden = t.hidden;
    encoder.layers = static_cast<int>(config.required({"encoder_layers"}, 10000));
    encoder.heads = static_cast<int>(config.required({"encoder_attention_heads"}));
    encoder.ffn = config.required({"encoder_ffn_dim"});
    encoder.input_elements = 3 * (config.number({"num_mel_bins"}).value_or(80) + t.hidden);
    encoder.positions = encoder.tokens;
    t.layers = static_cast<int>(config.required({"decoder_layers", "num_hidden_layers"}, 10000));
    t.max_positions = config.number({"max_target_positions"}).value_or(448);
    t.cross_attention = true;
    refine_dropout(config, t, {"dropout", "attention_dropout"}, 0);
    t.encoders.push_back(std::move(encoder));
}

// Layers of a list attend to the image alone.
void refine_mllama(HfConfig& config, Transformer& t)
{
    const Json* whole = config.outer().node().find("vision_config");
    if (whole == nullptr || !whole->is_object())
        return;
    HfConfig vision(config.outer().member("vision_config"));
    Encoder encoder;
    encoder.name = "vision";
    encoder.hidden = vision.required({"hidden_size"});
    encoder.heads = static_cast<int>(vision.required({"attention_heads", "num_attention_heads"}));
    encoder.layers = static_cast<int>(vision.required({"num_hidden_layers"}, 10000) +
                                      vision.count({"num_global_layers"}, 0));
    encoder.ffn = vision.required({"intermediate_size"});
    const std::int64_t patch = vision.number({"patch_size"}).value_or(14);
    const std::int64_t side = vision.number({"image_size"}).value_or(560) / patch;
    const std::int64_t tiles = vision.number({"max_num_tiles"}).value_or(4);
    encoder.tokens = tiles * (side * side + 1);
    encoder.input_elements = 3 * patch * patch;
    encoder.positions = side * side + 1;
    encoder.projects = true;
    const std::vector<std::int64_t> across = config.numbers("cross_attention_layers");
    LayerForm itself;
    itself.name = "attention";
    LayerForm cross;
    cross.name = "cross";
    cross.mixer = MixerKind::none;
    cross.cross_attention = true;
    t.layer_forms = {itself, cross};
    for (int layer = 0; layer < t.layers; ++layer)
        t.pattern.push_back(std::ranges::find(across, layer) != across.end() ? "cross"
                                                                             : "attention");
    config.assume(fmt::format("one image of {} tiles, {} tokens, beside each sequence", tiles,
                              encoder.tokens));
    t.encoders.push_back(std::move(encoder));
}

// Every second layer (Gemma 2) or five of six (Gemma 3) see a window.
void refine_gemma2(HfConfig& config, Transformer& t)
{
    if (t.pattern.empty())
        t.full_attention_every = 2;
    config.has("sliding_window");
}

void refine_gemma3(HfConfig& config, Transformer& t)
{
    if (t.pattern.empty())
        t.full_attention_every = static_cast<int>(config.count({"sliding_window_pattern"}, 6));
}

void refine_falcon(HfConfig& config, Transformer& t)
{
    const bool newer = config.flag("new_decoder_architecture", false);
    const bool one_key_head = config.flag("multi_query", true);
    const auto grouped = config.number({"num_kv_heads"});
    t.kv_heads = newer ? static_cast<int>(grouped.value_or(t.heads)) : one_key_head ? 1 : t.heads;
    t.linear_bias = config.flag("bias", false);
    t.parallel_blocks = config.flag("parallel_attn", true) || newer;
    const std::int64_t norms = config.count({"num_ln_in_parallel_attn"}, newer ? 2 : 1);
    t.norms_per_layer = t.parallel_blocks ? static_cast<int>(norms) : 2;
    t.position = config.flag("alibi", false) ? PositionKind::none : PositionKind::rotary;
    refine_dropout(config, t, {"hidden_dropout", "attention_dropout"}, 0);
}

void refine_bloom(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"hidden_dropout", "attention_dropout"}, 0);
}

std::vector<HfFamily> llama_families()
{
    const Transformer llama = llama_like();
    const Transformer tied = changed(llama, [](Transformer& t) { t.tied_embeddings = true; });
    const Transformer qwen2 = changed(llama, [](Transformer& t) { t.attention_bias = true; });
    const Transformer qwen3 = changed(llama, [](Transformer& t) { t.qk_norm = true; });
    const Transformer cohere = changed(tied, [](Transformer& t) {
        t.norm = NormKind::layer_norm;
        t.parallel_blocks = true;
        t.norms_per_layer = 1;
    });
    return {{"llama", llama, refine_llama},
            {"mistral", llama, nullptr},
            {"mistral3", llama, nullptr},
            {"ministral", llama, nullptr},
            {"mixtral", llama, nullptr},
            {"qwen2", qwen2, refine_qwen},
            {"qwen2_vl", qwen2, refine_qwen},
            {"qwen2_5_vl", qwen2, refine_qwen},
            {"qwen2_moe", qwen2, refine_qwen},
            {"qwen3", qwen3, refine_qwen},
            {"qwen3_vl", qwen3, refine_qwen},
            {"qwen3_moe", qwen3, refine_qwen},
            {"qwen3_vl_moe", qwen3, refine_qwen},
            {"mimo", qwen2, refine_qwen},
            {"phi3", llama, nullptr},
            {"phi4mm", tied, nullptr},
            {"baichuan", llama, nullptr},
            {"internlm2", llama, nullptr},
            {"granite", llama, refine_llama},
            {"smollm3", tied, nullptr},
            {"olmo", llama, refine_llama},
            {"olmo2", qwen3, refine_llama},
            {"olmoe", qwen3, refine_llama},
            {"minimax_m2", qwen3, nullptr},
            {"glm", llama, refine_llama},
            {"glm4", llama, refine_llama},
            {"glm4_moe", llama, refine_llama},
            {"dbrx", llama, nullptr},
            {"llava", llama, refine_llama},
            {"mllama", llama, refine_mllama},
            {"cohere", cohere, nullptr},
            {"cohere2", cohere, nullptr},
            {"seed_oss", qwen2, refine_llama},
            {"llama4", llama, refine_llama4}};
}

// Latent attention is told by its keys.
std::vector<HfFamily> latent_families()
{
    const Transformer llama = llama_like();
    return {{"deepseek", llama, refine_llama},     {"deepseek_v2", llama, refine_latent},
            {"deepseek_v3", llama, refine_latent}, {"deepseek_v32", llama, refine_latent},
            {"kimi_k2", llama, refine_latent},     {"kimi_k25", llama, refine_latent},
            {"glm_moe_dsa", llama, refine_latent}, {"deepseek_v4", llama, nullptr}};
}

// Layers of several kinds, told by the lists of layers.
std::vector<HfFamily> hybrid_families()
{
    const Transformer llama = llama_like();
    const Transformer gated = changed(llama, [](Transformer& t) {
        t.qk_norm = true;
        t.attention_gate = true;
    });
    const Transformer gpt_oss = changed(llama, [](Transformer& t) {
        t.attention_sinks = true;
        t.mlp_bias = true;
    });
    // Squared ReLU, no gate.
    const Transformer nemotron = changed(llama, [](Transformer& t) {
        t.gated_mlp = false;
        t.activation = Activation::relu;
        t.position = PositionKind::none;
    });
    return {{"gpt_oss", gpt_oss, refine_gpt_oss},
            {"qwen3_next", gated, nullptr},
            {"qwen3_5", gated, nullptr},
            {"qwen3_5_moe", gated, nullptr},
            {"nemotron_h", nemotron, refine_llama},
            {"nemotron-nas", llama, refine_llama},
            {"kimi_linear", llama, refine_latent},
            {"jamba", llama, nullptr},
            {"mamba2", llama, nullptr},
            {"bailing_moe", llama, refine_bailing}};
}

std::vector<HfFamily> gemma_families()
{
    const Transformer gemma = changed(llama_like(), [](Transformer& t) {
        t.activation = Activation::gelu;
        t.tied_embeddings = true;
    });
    const Transformer gemma2 = changed(gemma, [](Transformer& t) { t.norms_per_layer = 4; });
    const Transformer gemma3 = changed(gemma2, [](Transformer& t) { t.qk_norm = true; });
    return {{"gemma", gemma, refine_llama},
            {"gemma2", gemma2, refine_gemma2},
            {"gemma3", gemma3, refine_gemma3},
            {"gemma4", gemma3, refine_llama}};
}

// GPT-2's blocks without biases or positions.
Transformer bloom_like()
{
    return changed(gpt_like(), [](Transformer& t) { t.position = PositionKind::none; });
}

// GPT-2's blocks, with positions learned or none.
std::vector<HfFamily> gpt_families()
{
    const Transformer gpt = gpt_like();
    const Transformer opt = changed(gpt, [](Transformer& t) { t.activation = Activation::relu; });
    const Transformer bert = changed(gpt, [](Transformer& t) {
        t.causal = false;
        t.bert_heads = true;
        t.embedding_norm = true;
        t.final_norm = false;
    });
    const Transformer vit = changed(gpt, [](Transformer& t) {
        t.causal = false;
        t.tied_embeddings = false;
        t.vocabulary = 1000;
        t.head_bias = true;
    });
    // Positions are a bias of the scores; RMSNorm, no biases.
    const Transformer t5 = changed(gpt, [](Transformer& t) {
        t.linear_bias = false;
        t.norm = NormKind::rms_norm;
        t.position = PositionKind::none;
        t.activation = Activation::relu;
    });
    const Transformer bloom = changed(gpt, [](Transformer& t) {
        t.position = PositionKind::none;
        t.embedding_norm = true;
    });
    return {{"gpt2", gpt, refine_gpt2},
            {"gpt_bigcode", gpt, refine_big_code},
            {"mpt", bloom_like(), refine_mpt},
            {"opt", opt, refine_opt},
            {"bert", bert, refine_bert},
            {"bloom", bloom, refine_bloom},
            {"albert", bert, refine_albert},
            {"vit", vit, refine_vit},
            {"whisper", gpt, refine_whisper},
            {"t5", t5, refine_t5},
            {"mt5", t5, refine_t5},
            {"umt5", t5, refine_t5},
            {"decoder_only_t5", t5, refine_t5_decoder}};
}

// The same with rotary positions.
std::vector<HfFamily> neox_families()
{
    const Transformer neox = changed(gpt_like(), [](Transformer& t) {
        t.position = PositionKind::rotary;
        t.tied_embeddings = false;
    });
    const Transformer phi = changed(neox, [](Transformer& t) {
        t.parallel_blocks = true;
        t.norms_per_layer = 1;
        t.head_bias = true;
    });
    const Transformer gpt_j = changed(phi, [](Transformer& t) { t.linear_bias = false; });
    const Transformer starcoder2 = changed(neox, [](Transformer& t) { t.tied_embeddings = true; });
    // RMSNorm, SwiGLU.
    const Transformer glm = changed(llama_like(), [](Transformer& t) { t.attention_bias = true; });
    const Transformer falcon = changed(neox, [](Transformer& t) { t.tied_embeddings = true; });
    return {{"gpt_neox", neox, refine_gpt_neox},
            {"phi", phi, nullptr},
            {"gptj", gpt_j, refine_gpt_j},
            {"starcoder2", starcoder2, nullptr},
            {"chatglm", glm, refine_chatglm},
            {"qwen", glm, refine_first_qwen},
            {"hf_olmo", neox, refine_olmo_checkpoint},
            {"falcon", falcon, refine_falcon}};
}

std::vector<HfFamily> families()
{
    std::vector<HfFamily> all;
    for (const auto& kin : {llama_families(), latent_families(), hybrid_families(), gpt_families(),
                            neox_families(), gemma_families()})
        all.insert(all.end(), kin.begin(), kin.end());
    return all;
}

const std::vector<HfFamily>& all_families()
{
    static const std::vector<HfFamily> all = families();
    return all;
}

} // namespace

// Norms say most: RMSNorm came with Llama's blocks, LayerNorm is GPT's, unless its activation is
// one of gated MLPs. Positions are learned where nothing speaks of rotation or ALiBi.
Transformer unknown_family(HfConfig& config)
{
    const bool rms = config.mentions("rms") || config.flag("rmsnorm", false);
    const bool layer_norm =
        !rms && (config.mentions("layer_norm") || config.mentions("layernorm") ||
                 config.text("norm_type").ends_with("layernorm"));
    const std::string activation = activation_name(config);
    const auto activated = [&](std::string_view part) {
        return activation.find(part) != std::string::npos;
    };
    const bool gated_name = activated("silu") || activated("swi") || activated("glu");
    const bool gated = gated_name || (!layer_norm && !activated("relu") && !activation.empty()) ||
                       activation.empty();
    Transformer t = layer_norm && !gated_name ? gpt_like() : llama_like();
    if (layer_norm)
        t.norm = NormKind::layer_norm;
    t.gated_mlp = layer_norm ? gated_name : gated;
    const bool rotated = config.mentions("rope") || config.mentions("rotary");
    if (t.position == PositionKind::learned && rotated)
        t.position = PositionKind::rotary;
    else if (t.position == PositionKind::learned && !config.has("max_position_embeddings") &&
             !config.has("n_positions") && !config.has("n_ctx"))
        t.position = PositionKind::none;
    t.shared_layers = config.has("num_hidden_groups");
    if (config.flag("alibi", false))
        t.position = PositionKind::none;
    for (const char* key : {"use_bias", "bias", "add_bias_linear"})
        if (config.has(key))
            t.linear_bias = config.flag(key, t.linear_bias);
    t.linear_bias = t.linear_bias && !config.flag("no_bias", false);
    for (const char* key : {"attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias"})
        if (config.has(key))
            t.attention_bias = config.flag(key, t.attention_bias);
    t.mlp_bias = config.flag("mlp_bias", t.mlp_bias);
    t.parallel_blocks =
        config.flag("use_parallel_residual", false) || config.flag("parallel_attn", false);
    config.assume(fmt::format("blocks as {} has them: {}, {}, {}", t.gated_mlp ? "Llama" : "GPT",
                              to_name(t.norm), t.gated_mlp ? "a gated MLP" : "an MLP without gate",
                              t.linear_bias ? "biases" : "no biases"));
    return t;
}

const HfFamily* find_hf_family(std::string_view model_type)
{
    for (const HfFamily& family : all_families())
        if (family.model_type == model_type)
            return &family;
    return nullptr;
}

std::vector<std::string> hf_family_names()
{
    std::vector<std::string> names;
    for (const HfFamily& family : all_families())
        names.emplace_back(family.model_type);
    return names;
}

} // namespace trainyard
