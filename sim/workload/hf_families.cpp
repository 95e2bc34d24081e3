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

void read_window(HfConfig& config, Transformer& t)
{
    t.sliding_window = config.count({"sliding_window"}, 0);
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
    if (config.flag("use_sliding_window", false))
        config.assume("the sliding window of the upper layers is not modelled: all keys are seen");
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

void refine_phi3(HfConfig& config, Transformer& t)
{
    read_window(config, t);
}

// Every second layer (Gemma 2) or five of six (Gemma 3) see a window.
void refine_gemma2(HfConfig& config, Transformer& t)
{
    read_window(config, t);
    t.full_attention_every = 2;
}

void refine_gemma3(HfConfig& config, Transformer& t)
{
    read_window(config, t);
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
    const Transformer qwen2 = changed(llama, [](Transformer& t) { t.attention_bias = true; });
    const Transformer qwen3 = changed(llama, [](Transformer& t) { t.qk_norm = true; });
    return {{"llama", llama, refine_llama},        {"mistral", llama, read_window},
            {"mixtral", llama, read_window},       {"qwen2", qwen2, refine_qwen},
            {"qwen2_moe", qwen2, refine_qwen},     {"qwen3", qwen3, refine_qwen},
            {"qwen3_moe", qwen3, refine_qwen},     {"deepseek", llama, refine_llama},
            {"deepseek_v2", llama, refine_latent}, {"deepseek_v3", llama, refine_latent},
            {"kimi_k2", llama, refine_latent},     {"phi3", llama, refine_phi3}};
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
            {"gemma3_text", gemma3, refine_gemma3}};
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
    return {{"gpt2", gpt, refine_gpt2},
            {"opt", opt, refine_opt},
            {"bert", bert, refine_bert},
            {"bloom", bloom, refine_bloom}};
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
    const Transformer falcon = changed(neox, [](Transformer& t) { t.tied_embeddings = true; });
    return {{"gpt_neox", neox, refine_gpt_neox},
            {"phi", phi, nullptr},
            {"falcon", falcon, refine_falcon}};
}

std::vector<HfFamily> families()
{
    std::vector<HfFamily> all;
    for (const auto& kin : {llama_families(), gpt_families(), neox_families(), gemma_families()})
        all.insert(all.end(), kin.begin(), kin.end());
    return all;
}

const std::vector<HfFamily>& all_families()
{
    static const std::vector<HfFamily> all = families();
    return all;
}

} // namespace

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
