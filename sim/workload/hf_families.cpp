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
        config.error_at("word_embed_proj_dim",
                        "embeddings narrower than the hidden size are not supported",
                        fmt::format("supported: as wide as it, {}", t.hidden));
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

void refine_gemma4(HfConfig& config, Transformer& t)
{
    if (t.moe) // beside the experts every layer keeps its MLP
        t.moe->shared_expert_ffn = t.ffn;
    config.has("attention_bias");
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
        t.max_positions = config.required({"max_sequence_length"});
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
                pretraining = name.as_string() == "BertForPreTraining" ||
                              name.as_string() == "BertForMaskedLM";
    t.head_fraction = pretraining ? 0.15 : 0;
    config.assume(pretraining ? "pre-training: 15 % of the tokens are masked and reach the logits"
                              : "fine-tuning: no token reaches the vocabulary");
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
            {"mllama", llama, refine_llama},
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
            {"glm_moe_dsa", llama, refine_latent}, {"longcat_flash", llama, refine_latent}};
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
            {"gemma4", gemma3, refine_gemma4}};
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
    const Transformer bloom = changed(gpt, [](Transformer& t) {
        t.position = PositionKind::none;
        t.embedding_norm = true;
    });
    return {{"gpt2", gpt, refine_gpt2},        {"gpt_bigcode", gpt, refine_big_code},
            {"mpt", bloom_like(), refine_mpt}, {"opt", opt, refine_opt},
            {"bert", bert, refine_bert},       {"bloom", bloom, refine_bloom}};
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
    const bool layer_norm = !rms && (config.mentions("layer_norm") || config.mentions("layernorm"));
    std::string activation;
    for (const char* key :
         {"hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act"})
        if (activation.empty() && config.has(key))
            activation = config.text(key);
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
