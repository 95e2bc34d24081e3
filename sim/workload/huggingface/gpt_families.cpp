// GPT-2's kin: LayerNorm, MLPs without gate, biases; positions learned, rotary or none.

#include "sim/workload/huggingface/family.h"

#include <algorithm>

namespace trainyard {
namespace {

void refine_gpt2(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"resid_pdrop", "attn_pdrop"}, 0.1);
}

// Queries, keys and values have no biases.
void refine_gpt_neo(HfConfig& config, Transformer& t)
{
    t.linear_bias = false;
    t.attention_output_bias = t.mlp_bias = true;
    refine_dropout(config, t, {"resid_dropout", "attention_dropout"}, 0);
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

// A fused gate shares the stated size with the other half.
void refine_olmo_checkpoint(HfConfig& config, Transformer& t)
{
    t.tied_embeddings = config.flag("weight_tying", true);
    t.linear_bias = config.flag("include_bias", false);
    t.vocabulary = std::max(t.vocabulary, config.number({"embedding_size"}).value_or(0));
    t.gated_mlp = config.text("activation_type") == "swiglu";
    if (t.gated_mlp)
        t.ffn /= 2;
    t.position = config.flag("rope", false) || config.flag("alibi", false) ? PositionKind::rotary
                                                                           : PositionKind::learned;
    if (t.position == PositionKind::learned)
        t.max_positions = config.required({"max_sequence_length", "max_position_embeddings"});
}

// A gate beside the MLP of the stated size; every token sees all others.
void refine_llada(HfConfig& config, Transformer& t)
{
    t.tied_embeddings = config.flag("weight_tying", false);
    t.linear_bias = config.flag("include_bias", false);
    t.attention_bias = config.flag("include_qkv_bias", false);
    t.causal = false;
    config.assume("diffusion of text: each token sees all others of its sequence");
}

void refine_falcon(HfConfig& config, Transformer& t)
{
    const bool newer = config.flag("new_decoder_architecture", false);
    const bool one_key_head = config.flag("multi_query", true);
    const auto grouped = config.number({"num_kv_heads", "n_head_kv"});
    t.kv_heads = newer ? static_cast<int>(grouped.value_or(t.heads)) : one_key_head ? 1 : t.heads;
    t.linear_bias = config.flag("bias", false);
    t.parallel_blocks = config.flag("parallel_attn", true) || newer;
    const std::int64_t norms =
        config.number({"num_ln_in_parallel_attn"}, 2).value_or(newer ? 2 : 1);
    t.norms_per_layer = t.parallel_blocks ? static_cast<int>(norms) : 2;
    t.position = config.flag("alibi", false) ? PositionKind::none : PositionKind::rotary;
    refine_dropout(config, t, {"hidden_dropout", "attention_dropout"}, 0);
}

// The first 40B release: key heads as stated, two norms side by side.
void refine_first_falcon(HfConfig& config, Transformer& t)
{
    refine_falcon(config, t);
    t.kv_heads = static_cast<int>(config.number({"n_head_kv"}).value_or(t.heads));
    t.norms_per_layer = 2;
}

void refine_bloom(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"hidden_dropout", "attention_dropout"}, 0);
}

// GPT-2's blocks, with positions learned or none.
std::vector<HfFamily> learned_families()
{
    const Transformer gpt = gpt_like();
    const Transformer first =
        changed(gpt, [](Transformer& t) { t.final_norm = false; }); // norms come after
    const Transformer opt = changed(gpt, [](Transformer& t) { t.activation = Activation::relu; });
    const Transformer alibi = changed(gpt, [](Transformer& t) { t.position = PositionKind::none; });
    const Transformer bloom = changed(alibi, [](Transformer& t) { t.embedding_norm = true; });
    return {{"gpt2", gpt, refine_gpt2},       {"openai-gpt", first, refine_gpt2},
            {"gpt_neo", gpt, refine_gpt_neo}, {"gpt_bigcode", gpt, refine_big_code},
            {"biogpt", gpt, nullptr},         {"mpt", alibi, refine_mpt},
            {"xglm", alibi, nullptr},         {"opt", opt, refine_opt},
            {"bloom", bloom, refine_bloom}};
}

// The same with rotary positions.
std::vector<HfFamily> rotary_families()
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
    const Transformer tied = changed(neox, [](Transformer& t) { t.tied_embeddings = true; });
    return {{"gpt_neox", neox, refine_gpt_neox},
            {"phi mixformer-sequential", phi, nullptr},
            {"gptj codegen", gpt_j, refine_gpt_j},
            {"starcoder2", tied, nullptr},
            {"hf_olmo", neox, refine_olmo_checkpoint},
            {"llada", llama_like(), refine_llada},
            {"falcon RefinedWebModel", tied, refine_falcon},
            {"RefinedWeb", tied, refine_first_falcon}};
}

} // namespace

std::vector<HfFamily> hf_gpt_families()
{
    std::vector<HfFamily> all = learned_families();
    const std::vector<HfFamily> rotary = rotary_families();
    all.insert(all.end(), rotary.begin(), rotary.end());
    return all;
}

} // namespace trainyard
