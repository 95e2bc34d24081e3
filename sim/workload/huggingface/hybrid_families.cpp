// Families whose layers are of several kinds, told by lists of the layers, or recurrent ones alone.

#include "sim/workload/huggingface/family.h"

namespace trainyard {
namespace {

void refine_latent_hybrid(HfConfig& config, Transformer& t)
{
    refine_biases(config, t);
    config.required({"kv_lora_rank"});
    t.attention_gate = config.flag("mla_use_output_gate", false);
    if (config.has("attn_res_block_size"))
        config.assume("\"attn_res_block_size\" (attention over the layers before) is not modelled");
}

void refine_llama4(HfConfig& config, Transformer& t)
{
    refine_biases(config, t);
    if (t.moe && config.has("intermediate_size_mlp"))
        t.moe->shared_expert_ffn = t.moe->expert_ffn;
}

void refine_ring(HfConfig& config, Transformer& t)
{
    t.attention_bias = config.flag("use_qkv_bias", false);
    t.attention_output_bias = config.flag("use_bias", false);
}

// Gate and up share the size.
void refine_recurrent_gemma(HfConfig& config, Transformer& t)
{
    t.ffn /= 2;
    t.mlp_bias = true;
    t.attention_output_bias = true;
    t.attention_bias = config.flag("attention_bias", false);
}

// The dimension is adjusted as Llama's first code did: two thirds, rounded up to a multiple.
void refine_lfm2(HfConfig& config, Transformer& t)
{
    t.tied_embeddings = config.flag("tie_embedding", true);
    if (!config.flag("block_auto_adjust_ff_dim", false))
        return;
    const double times = config.multiple({"block_ffn_dim_multiplier"}).value_or(1);
    const std::int64_t multiple = config.number({"block_multiple_of"}).value_or(256);
    const auto size = static_cast<std::int64_t>(times * static_cast<double>(2 * t.ffn / 3));
    t.ffn = (size + multiple - 1) / multiple * multiple;
}

} // namespace

std::vector<HfFamily> hf_hybrid_families()
{
    const Transformer llama = llama_like();
    const Transformer tied = changed(llama, [](Transformer& t) { t.tied_embeddings = true; });
    const Transformer gated = changed(llama, [](Transformer& t) {
        t.qk_norm = true;
        t.attention_gate = true;
    });
    // Squared ReLU, no gate.
    const Transformer nemotron = changed(llama, [](Transformer& t) {
        t.gated_mlp = false;
        t.activation = Activation::relu;
        t.position = PositionKind::none;
    });
    const Transformer lfm2 = changed(tied, [](Transformer& t) { t.qk_norm = true; });
    const Transformer griffin =
        changed(tied, [](Transformer& t) { t.activation = Activation::gelu; });
    return {{"qwen3_next qwen3_5 qwen3_5_moe", gated, nullptr},
            {"nemotron_h", nemotron, refine_biases},
            {"nemotron-nas granitemoehybrid mimo_v2_flash", llama, refine_biases},
            {"kimi_linear kimi_k3", llama, refine_latent_hybrid},
            {"jamba mamba2 bamba falcon_h1 minimax minimax_text_01 minimax_m1", llama, nullptr},
            {"mamba falcon_mamba", tied, nullptr},
            {"zamba2", griffin, nullptr},
            {"recurrent_gemma", griffin, refine_recurrent_gemma},
            {"lfm2", lfm2, refine_lfm2},
            {"lfm2_moe", lfm2, nullptr},
            {"olmo_hybrid", changed(llama, [](Transformer& t) { t.qk_norm = true; }), nullptr},
            {"bailing_moe_linear", llama, refine_ring},
            {"llama4", llama, refine_llama4}};
}

} // namespace trainyard
