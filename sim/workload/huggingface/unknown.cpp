// The structure of a family that is not known, told by its keys.

#include "sim/base/json.h"
#include "sim/workload/huggingface/family.h"
#include "sim/workload/huggingface/sizes.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

bool mentions(const std::string& word, std::string_view part)
{
    return word.find(part) != std::string::npos;
}

void read_bias_words(HfConfig& config, Transformer& t)
{
    for (const char* key : {"use_bias", "bias", "add_bias_linear", "include_bias"})
        if (config.has(key)) {
            const bool biases = config.flag(key, t.linear_bias);
            if (t.norm == NormKind::layer_norm)
                t.linear_bias = biases;
            else // in Llama's blocks the word is of attention
                t.attention_bias = t.attention_output_bias = biases;
        }
    t.linear_bias = t.linear_bias && !config.flag("no_bias", false);
    for (const char* key : {"attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias"})
        if (config.has(key))
            t.attention_bias = config.flag(key, t.attention_bias);
    t.mlp_bias = config.flag("mlp_bias", t.mlp_bias);
    t.head_bias = config.flag("lm_head_bias", t.head_bias);
}

void read_positions(HfConfig& config, Transformer& t)
{
    const bool rotated = config.mentions("rope") || config.mentions("rotary");
    if (t.position == PositionKind::learned && rotated)
        t.position = PositionKind::rotary;
    else if (t.position == PositionKind::learned && !config.has("max_position_embeddings") &&
             !config.has("n_positions") && !config.has("n_ctx"))
        t.position = PositionKind::none;
    if (config.flag("alibi", false))
        t.position = PositionKind::none;
}

// No feed-forward size, or a multiple of the hidden one, or words that only GPT's blocks have.
bool speaks_of_gpt(HfConfig& config)
{
    for (const char* key : {"expansion_ratio", "multi_query", "alibi", "parallel_attn", "n_inner",
                            "new_decoder_architecture", "rotary_dim"})
        if (config.has(key))
            return true;
    return !states_feed_forward(config);
}

// Norms say most: RMSNorm came with Llama's blocks, LayerNorm is GPT's, unless its activation is
// one of gated MLPs; without a word of norms, activation and sizes do. Positions are learned where
// nothing speaks of rotation or ALiBi.
Transformer decoder(HfConfig& config)
{
    const bool rms = config.mentions("rms") || config.flag("rmsnorm", false);
    const std::string activation = activation_name(config);
    const bool gated_name =
        mentions(activation, "silu") || mentions(activation, "swi") || mentions(activation, "glu");
    const bool plain_name = mentions(activation, "relu") || mentions(activation, "xielu");
    const bool said_layer_norm = config.mentions("layer_norm") || config.mentions("layernorm") ||
                                 config.text("norm_type").ends_with("layernorm");
    const bool gpt = mentions(activation, "gelu") || (activation.empty() && speaks_of_gpt(config));
    const bool layer_norm = !rms && (said_layer_norm || (gpt && !gated_name));
    Transformer t = layer_norm && !gated_name ? gpt_like() : llama_like();
    if (layer_norm)
        t.norm = NormKind::layer_norm;
    t.gated_mlp = layer_norm ? gated_name : gated_name || !plain_name;
    read_positions(config, t);
    read_bias_words(config, t);
    if (config.has("ssm_cfg")) // of the first Mamba models
        t.tied_embeddings = config.flag("tie_embeddings", true);
    t.parallel_blocks =
        config.flag("use_parallel_residual", false) || config.flag("parallel_attn", false);
    if (config.has("cross_attention_layers"))
        config.assume("layers of \"cross_attention_layers\" are read as attention to the text");
    if (!config.has("tie_word_embeddings") && !config.has("tie_embeddings") &&
        !config.has("share_input_output_layers"))
        config.assume(fmt::format("embedding and logits {}",
                                  t.tied_embeddings ? "share one matrix" : "have a matrix each"));
    config.assume(fmt::format("blocks as {} has them: {}, {}, {}", t.gated_mlp ? "Llama" : "GPT",
                              to_name(t.norm), t.gated_mlp ? "a gated MLP" : "an MLP without gate",
                              t.linear_bias ? "biases" : "no biases"));
    return t;
}

// A known family that the keys can be of no other than; null where there is none such.
const char* told_by_keys(HfConfig& config)
{
    const Json& node = config.reader().node();
    const auto there = [&](const char* key) { return node.find(key) != nullptr; };
    if (there("image_size") && there("patch_size") && !there("vocab_size"))
        return there("num_labels") || there("id2label") ? "vit" : "dinov2";
    if (config.flag("is_encoder_decoder", false)) {
        if (!there("encoder_layers"))
            return "t5";
        return there("num_mel_bins") ? "whisper" : "bart";
    }
    if (there("num_hidden_groups"))
        return "albert";
    if (there("type_vocab_size") && !config.flag("is_decoder", false))
        return "bert";
    return nullptr;
}

} // namespace

HfFamily unknown_family(HfConfig& config, std::string_view model_type)
{
    if (const char* known = told_by_keys(config)) {
        config.assume(fmt::format("its keys are those of \"{}\", as which it is read", known));
        return *find_hf_family(known);
    }
    return {model_type, decoder(config), nullptr};
}

} // namespace trainyard
