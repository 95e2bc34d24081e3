// Llama's kin: rotary positions, gated MLPs unless said, one kind of layer or windows in between.

#include "sim/workload/huggingface/family.h"

namespace trainyard {
namespace {

// Every n-th layer sees all keys, where no list says which do.
void see_all_every(int n, Transformer& t)
{
    if (t.pattern.empty() && t.full_attention_every == 0 && t.sliding_window > 0)
        t.full_attention_every = n;
}

void refine_latent(HfConfig& config, Transformer& t)
{
    refine_biases(config, t);
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

// One word for the biases of attention's four matrices (InternLM).
void refine_internlm(HfConfig& config, Transformer& t)
{
    t.attention_bias = t.attention_output_bias = config.flag("bias", false);
    t.attention_bias = config.flag("qkv_bias", t.attention_bias);
}

// The first generation has GPT's blocks, the later ones Llama's.
void refine_chatglm(HfConfig& config, Transformer& t)
{
    if (config.has("inner_hidden_size")) {
        t.gated_mlp = false;
        t.linear_bias = true;
        t.norm = NormKind::layer_norm;
        t.activation = Activation::gelu;
        t.tied_embeddings = config.flag("tie_word_embeddings", true);
        t.kv_heads = t.heads;
        return;
    }
    t.attention_bias = config.flag("add_qkv_bias", true);
    t.linear_bias = config.flag("add_bias_linear", false);
}

// QWen's first generation counts gate and up together.
void refine_first_qwen(HfConfig& config, Transformer& t)
{
    t.ffn /= 2;
    t.linear_bias = !config.flag("no_bias", true);
}

// Gate and up share the size.
void refine_halved_mlp(HfConfig& /*config*/, Transformer& t)
{
    t.ffn /= 2;
}

void refine_jetmoe(HfConfig& config, Transformer& /*t*/)
{
    config.assume(
        "experts of attention are not modelled: queries and results have one matrix each");
}

void refine_ernie_images(HfConfig& config, Transformer& /*t*/)
{
    config.assume("experts for the tokens of images are left out");
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
    see_all_every(2, t);
}

void refine_olmo3(HfConfig& config, Transformer& t)
{
    refine_biases(config, t);
    see_all_every(4, t);
}

// EXAONE 4 and Command R7B.
void refine_every_fourth(HfConfig& /*config*/, Transformer& t)
{
    see_all_every(4, t);
}

void refine_stablelm(HfConfig& config, Transformer& t)
{
    t.attention_bias = config.flag("use_qkv_bias", false);
    t.parallel_blocks = config.flag("use_parallel_residual", false);
    if (t.parallel_blocks)
        t.norms_per_layer = 1;
    if (config.flag("qk_layernorm", false))
        t.qk_norm = true;
}

void refine_phi_moe(HfConfig& config, Transformer& t)
{
    refine_biases(config, t);
    t.head_bias = config.flag("lm_head_bias", false);
}

// Every second layer (Gemma 2), five of six (Gemma 3) or four of five (Gemma 3n) see a window.
void refine_gemma2(HfConfig& config, Transformer& t)
{
    see_all_every(2, t);
    config.has("sliding_window");
}

void refine_window_period(HfConfig& config, Transformer& t, int usual)
{
    for (const char* key : {"_sliding_window_pattern", "sliding_window_pattern"})
        if (t.pattern.empty())
            if (const std::int64_t every = config.count({key}, 0); every > 0)
                t.full_attention_every = static_cast<int>(every);
    see_all_every(usual, t);
}

void refine_gemma3(HfConfig& config, Transformer& t)
{
    refine_window_period(config, t, 6);
}

// All layers share parts of one table, several streams and low-rank paths run beside.
void refine_gemma3n(HfConfig& config, Transformer& t)
{
    refine_window_period(config, t, 5);
    if (config.has("altup_num_inputs") || config.has("laurel_rank"))
        config.assume("\"altup_num_inputs\" and \"laurel_rank\" (streams and low-rank paths beside "
                      "each layer) are not modelled");
}

std::vector<HfFamily> plain_families()
{
    const Transformer llama = llama_like();
    const Transformer tied = changed(llama, [](Transformer& t) { t.tied_embeddings = true; });
    const Transformer qwen2 = changed(llama, [](Transformer& t) { t.attention_bias = true; });
    const Transformer qwen3 = changed(llama, [](Transformer& t) { t.qk_norm = true; });
    const Transformer gated = changed(qwen3, [](Transformer& t) {
        t.attention_gate = true;
        t.norms_per_layer = 4;
    });
    return {{"llama granite granitemoe olmo glm glm4 glm4_moe solar helium llava solar_open cwm "
             "granitemoeshared glm4v glm4v_moe glm_ocr bitnet",
             llama, refine_biases},
            {"mistral mistral3 ministral mixtral phi3 baichuan exaone dbrx arctic step3 "
             "step3_text deci ministral3 mistral4",
             llama, nullptr},
            {"qwen2 qwen2_vl qwen2_5_vl qwen2_5_omni qwen2_moe mimo", qwen2, refine_qwen},
            {"qwen3 qwen3_vl qwen3_moe qwen3_vl_moe qwen3_omni_moe", qwen3, refine_qwen},
            {"phi4mm smollm3 ernie4_5 ernie4_5_moe minicpm minicpm3 hunyuan hunyuan_v1_dense "
             "hunyuan_v1_moe openelm paddleocr_vl",
             tied, nullptr},
            {"internlm internlm2 internlm3", llama, refine_internlm},
            {"olmo2 olmoe dots1 hy_v3 flex_olmo laguna", qwen3, refine_biases},
            {"olmo3", qwen3, refine_olmo3},
            {"minimax_m2 minimax_m3 minimax_m3_vl step3p5 step3p7", qwen3, nullptr},
            {"exaone4 exaone_moe", qwen3, refine_every_fourth},
            {"seed_oss", qwen2, refine_biases},
            {"chatglm", qwen2, refine_chatglm},
            {"qwen", qwen2, refine_first_qwen},
            {"bailing_moe bailing_moe_v2", llama, refine_bailing},
            {"ernie4_5_vl_moe ernie4_5_moe_vl", tied, refine_ernie_images},
            {"moshi kyutai_speech_to_text", llama, refine_halved_mlp},
            {"jetmoe", tied, refine_jetmoe},
            {"afmoe beam muse_spark muse_glimmer", gated, refine_biases}};
}

// LayerNorm, or an MLP without gate.
std::vector<HfFamily> other_blocks()
{
    const Transformer llama = llama_like();
    const Transformer layer_norm =
        changed(llama, [](Transformer& t) { t.norm = NormKind::layer_norm; });
    const Transformer cohere = changed(layer_norm, [](Transformer& t) {
        t.tied_embeddings = true;
        t.parallel_blocks = true;
        t.norms_per_layer = 1;
    });
    const Transformer ungated = changed(llama, [](Transformer& t) {
        t.gated_mlp = false;
        t.activation = Activation::relu;
    });
    const Transformer apertus = changed(ungated, [](Transformer& t) { t.qk_norm = true; });
    const Transformer nemotron =
        changed(ungated, [](Transformer& t) { t.norm = NormKind::layer_norm; });
    const Transformer persimmon = changed(nemotron, [](Transformer& t) {
        t.linear_bias = true;
        t.qk_norm = true;
    });
    const Transformer phi3_small = changed(layer_norm, [](Transformer& t) {
        t.linear_bias = true;
        t.tied_embeddings = true;
        t.activation = Activation::gelu;
    });
    const Transformer gpt_oss = changed(llama, [](Transformer& t) {
        t.attention_sinks = true;
        t.mlp_bias = true;
        t.clamped_activation = true;
    });
    return {{"cohere", cohere, nullptr},
            {"cohere2", cohere, refine_every_fourth},
            {"orion", layer_norm, nullptr},
            {"phimoe", layer_norm, refine_phi_moe},
            {"stablelm stablelm_epoch", layer_norm, refine_stablelm},
            {"apertus", apertus, refine_biases},
            {"arcee", ungated, refine_biases},
            {"nemotron", nemotron, refine_biases},
            {"persimmon", persimmon, nullptr},
            {"phi3small", phi3_small, nullptr},
            {"gpt_oss", gpt_oss, refine_gpt_oss}};
}

// Latent attention is told by its keys.
std::vector<HfFamily> latent_families()
{
    const Transformer llama = llama_like();
    const Transformer gated = changed(llama, [](Transformer& t) { t.attention_gate = true; });
    return {{"axk2 hy_v4 hy_v4_vl", gated, refine_latent},
            {"glm4_moe_lite youtu axk1 deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 kimi_k25 "
             "glm_moe_dsa longcat_flash",
             llama, refine_latent},
            {"deepseek", llama, refine_biases},
            {"deepseek_v4", llama, nullptr}};
}

std::vector<HfFamily> gemma_families()
{
    const Transformer gemma = changed(llama_like(), [](Transformer& t) {
        t.activation = Activation::gelu;
        t.tied_embeddings = true;
    });
    const Transformer gemma2 = changed(gemma, [](Transformer& t) { t.norms_per_layer = 4; });
    const Transformer gemma3 = changed(gemma2, [](Transformer& t) { t.qk_norm = true; });
    return {{"gemma", gemma, refine_biases},
            {"gemma2", gemma2, refine_gemma2},
            {"gemma3", gemma3, refine_gemma3},
            {"gemma3n", gemma3, refine_gemma3n},
            {"gemma4 gemma4_unified", gemma3, refine_biases}};
}

} // namespace

std::vector<HfFamily> hf_llama_families()
{
    std::vector<HfFamily> all;
    for (const auto& kin : {plain_families(), other_blocks(), latent_families(), gemma_families()})
        all.insert(all.end(), kin.begin(), kin.end());
    return all;
}

} // namespace trainyard
