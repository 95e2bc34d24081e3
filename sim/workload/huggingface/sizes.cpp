#include "sim/workload/huggingface/sizes.h"

#include "sim/base/json.h"
#include "sim/workload/huggingface/recurrent.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::int64_t largest_layers = 10000;

// DeepSeek's attention, told by its keys whatever the family.
void read_latent_attention(HfConfig& config, Transformer& t)
{
    if (!config.has("kv_lora_rank") || !config.flag("use_mla", true))
        return;
    LatentAttention latent;
    latent.q_lora_rank = config.number({"q_lora_rank"}).value_or(0);
    latent.kv_lora_rank = config.required({"kv_lora_rank"});
    latent.qk_nope_head_dim = config.required({"qk_nope_head_dim"});
    latent.qk_rope_head_dim = config.value("qk_rope_head_dim") != nullptr
                                  ? config.count({"qk_rope_head_dim"}, 0)
                                  : config.required({"qk_rope_head_dim"});
    const auto values = config.number({"v_head_dim"});
    latent.v_head_dim = values.value_or(t.hidden / std::max(1, t.heads));
    if (!values)
        config.assume(fmt::format("values of {} per head: the hidden size over the heads",
                                  latent.v_head_dim));
    t.latent = latent;
    t.kv_heads = t.heads;
    t.head_dim = latent.head_dim();
}

// An indexer that picks keys (DeepSeek-V3.2).
void read_indexer(HfConfig& config, Transformer& t)
{
    if (!t.latent || !config.has("index_topk"))
        return;
    SparseIndexer indexer;
    indexer.heads = static_cast<int>(config.required({"index_n_heads"}));
    indexer.head_dim = config.required({"index_head_dim"});
    indexer.keys_per_query = config.required({"index_topk"});
    t.indexer = indexer;
}

// Queries and results through latents, one narrow key head (DeepSeek-V4).
void read_narrow_results(HfConfig& config, Transformer& t)
{
    if (!config.has("o_lora_rank"))
        return;
    t.query_rank = config.count({"q_lora_rank"}, 0);
    t.output_rank = config.required({"o_lora_rank"});
    t.output_groups = static_cast<int>(config.number({"o_groups"}).value_or(1));
    t.shared_key_value = true;
}

// Whether no layer attends: then there may be no heads either.
bool has_no_attention(HfConfig& config)
{
    return is_all_recurrent(config) && !config.has("num_attention_heads");
}

int read_key_heads(HfConfig& config, const Transformer& t)
{
    if (config.flag("multi_query_attention", false))
        return static_cast<int>(config.number({"multi_query_group_num"}).value_or(1));
    if (const auto heads =
            config.number({"num_key_value_heads", "num_kv_heads", "kv_n_heads", "n_kv_heads",
                           "n_head_kv", "num_key_value_heads_per_layer", "num_attention_groups"}))
        return static_cast<int>(*heads);
    if (config.flag("multi_query", false))
        return 1;
    if (t.gated_mlp && !config.has("block_configs"))
        config.assume(fmt::format("key heads: as many as query heads, {}", t.heads));
    return t.heads;
}

void read_attention(HfConfig& config, Transformer& t)
{
    if (has_no_attention(config)) {
        t.heads = t.kv_heads = 1;
        t.head_dim = t.hidden;
        return;
    }
    t.heads = static_cast<int>(
        config.required({"num_attention_heads", "n_head", "n_heads", "num_heads",
                         "decoder_attention_heads", "attention_heads", "num_query_heads"}));
    t.kv_heads = read_key_heads(config, t);
    t.head_dim = config.count({"head_dim", "kv_channels", "d_kv", "attention_head_dim", "d_head",
                               "size_per_head", "dim_head"},
                              0);
    if (!config.has("kv_lora_rank")) {
        t.value_head_dim = config.count({"v_head_dim", "v_channels"}, 0);
        t.query_rank = config.count({"share_q_dim"}, 0);
    }
    if (config.flag("use_sliding_window", true))
        t.sliding_window = config
                               .number({"sliding_window", "attention_window_size",
                                        "sliding_window_size", "local_attention"})
                               .value_or(0);
    for (const char* key : {"use_qk_norm", "qk_layernorm", "qk_norm", "normalize_qk_projections"})
        t.qk_norm = config.flag(key, t.qk_norm);
    for (const char* key : {"attn_output_gate", "attention_output_gate"})
        t.attention_gate = config.flag(key, t.attention_gate);
    if (config.flag("use_cla", false))
        config.assume("\"use_cla\": layers that attend to an earlier layer's keys have their own");
    read_latent_attention(config, t);
    read_indexer(config, t);
    read_narrow_results(config, t);
}

const HfConfig::Aliases& feed_forward_keys()
{
    static const HfConfig::Aliases names{"intermediate_size",
                                         "n_inner",
                                         "ffn_dim",
                                         "ffn_hidden_size",
                                         "d_ff",
                                         "dff",
                                         "dim_ff",
                                         "decoder_ffn_dim",
                                         "mlp_hidden_size",
                                         "intermediate_dim",
                                         "inner_hidden_size",
                                         "ff_intermediate_size",
                                         "d_inner",
                                         "hidden_dim",
                                         "block_ff_dim"};
    return names;
}

// Llama's params.json: two thirds of four times the hidden size, times a factor, rounded up.
std::optional<std::int64_t> rounded_feed_forward(HfConfig& config, std::int64_t hidden)
{
    const auto multiple = config.number({"multiple_of"});
    if (!multiple)
        return std::nullopt;
    const double times = config.multiple({"ffn_dim_multiplier"}).value_or(1);
    const auto size = static_cast<std::int64_t>(times * static_cast<double>(8 * hidden / 3));
    return (size + *multiple - 1) / *multiple * *multiple;
}

// A feed-forward size is given, or as a multiple of the hidden size.
void read_mlp(HfConfig& config, Transformer& t)
{
    const HfConfig::Aliases of_experts{"moe_intermediate_size"};
    const std::size_t before = config.reader().error_count();
    auto ffn = config.number(feed_forward_keys());
    if (!ffn && config.reader().error_count() == before)
        if (const auto times = config.multiple({"mlp_ratio", "expansion_ratio"}))
            ffn = static_cast<std::int64_t>(*times * static_cast<double>(t.hidden));
    if (!ffn && config.reader().error_count() == before)
        ffn = rounded_feed_forward(config, t.hidden);
    if (!ffn && config.reader().error_count() == before)
        ffn = config.number(of_experts);
    // Widths of each layer, or layers without an MLP.
    const bool elsewhere =
        config.has("block_configs") || config.has("ffn_multipliers") || is_all_recurrent(config);
    if (!ffn && t.gated_mlp && !elsewhere && config.reader().error_count() == before)
        config.missing("intermediate_size", "a config.json of this family has it");
    if (!ffn && !t.gated_mlp && !elsewhere)
        config.assume(
            fmt::format("feed-forward size {}: four times the hidden size", 4 * t.hidden));
    t.ffn = ffn.value_or(4 * t.hidden);
}

// Where experts' layers follow a rule; lists of layers are the pattern's.
void read_dense_layers(HfConfig& config, MixtureOfExperts& moe)
{
    moe.leading_dense_layers = static_cast<int>(
        config.count({"first_k_dense_replace", "moe_layer_start_index", "num_dense_layers",
                      "n_dense_layers", "moe_layer_num_skipped"},
                     0));
    if (const Json* list = config.value("moe_layer_freq"); list == nullptr || !list->is_array())
        moe.every = static_cast<int>(
            config
                .number({"decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step",
                         "moe_layer_interval", "moe_layer_frequency"})
                .value_or(1));
}

// Scores by softmax or sigmoid, scaled or not, cost the same.
void read_groups(HfConfig& config, MixtureOfExperts& moe)
{
    for (const char* key :
         {"scoring_func", "topk_method", "norm_topk_prob", "routed_scaling_factor"})
        config.has(key);
    const auto groups = config.number({"n_group", "num_expert_group"});
    const auto per_token = config.number({"topk_group"});
    const bool limited = config.text("topk_method") != "greedy";
    if (!groups || !per_token || !limited)
        return;
    moe.groups = static_cast<int>(*groups);
    moe.groups_per_token = static_cast<int>(*per_token);
}

void read_prediction_layers(HfConfig& config, Transformer& t)
{
    t.prediction_layers = static_cast<int>(
        config.count({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0, 100));
    if (config.flag("use_mtp", false))
        t.prediction_layers =
            static_cast<int>(config.number({"num_mtp_modules"}, 100).value_or(1) *
                             config.number({"mtp_transformer_layers"}, 100).value_or(1));
    if (t.prediction_layers > 0)
        config.assume(fmt::format("{} multi-token prediction layer{} trained with the model",
                                  t.prediction_layers, t.prediction_layers > 1 ? "s are" : " is"));
}

void read_shared_experts(HfConfig& config, const Transformer& t, MixtureOfExperts& moe)
{
    const HfConfig::Aliases counts{"n_shared_experts", "num_shared_experts", "num_shared_expert",
                                   "moe_num_shared_experts"};
    moe.shared_expert_ffn = config.count({"shared_expert_intermediate_size"}, 0);
    moe.shared_expert_gate = moe.shared_expert_ffn > 0;
    if (moe.shared_expert_ffn == 0)
        moe.shared_expert_ffn = config.count(
            {"moe_shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"},
            0);
    if (moe.shared_expert_ffn == 0)
        moe.shared_expert_ffn = config.count(counts, 0) * moe.expert_ffn;
    config.count(counts, 0);
    // A dense MLP of every layer beside its experts: as wide as the model (Arctic), or as dense
    // layers (Gemma 4, Grok 2).
    if (config.flag("parallel_attn_mlp_res", false))
        moe.shared_expert_ffn = t.hidden;
    if (config.has("enable_moe_block") || config.flag("residual_moe", false))
        moe.shared_expert_ffn = t.ffn;
}

// Experts are as wide as "intermediate_size" where dense layers have a key of their own.
std::optional<std::int64_t> dense_width(HfConfig& config)
{
    return config.number({"intermediate_size_mlp", "dense_intermediate_size"});
}

// Keys that speak of experts, where none were read.
void say_experts_left_out(HfConfig& config)
{
    std::vector<std::string> keys;
    for (const char* key : {"use_moe", "is_moe"})
        if (config.has(key) && config.flag(key, false))
            keys.emplace_back(key);
    for (const std::string& key : config.keys_with_part("expert")) {
        const Json* value = config.value(key);
        if (value != nullptr && value->is_integer() && value->as_integer() > 1 &&
            key.find("per_tok") == std::string::npos)
            keys.push_back(key);
    }
    if (!keys.empty())
        config.assume(fmt::format("experts that \"{}\" speak of are not read: all layers have MLPs",
                                  fmt::join(keys, "\", \"")));
}

void read_experts(HfConfig& config, Transformer& t)
{
    const std::int64_t experts = config.count(
        {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}, 0);
    const bool denied = std::ranges::any_of(
        std::array{"enable_moe_block", "is_moe", "use_moe"},
        [&](const char* key) { return config.has(key) && !config.flag(key, true); });
    if (experts <= 1 || denied) {
        // A model of the family without experts keeps what the shared one would be.
        if (experts == 0)
            t.ffn = config.number({"shared_intermediate_size"}).value_or(t.ffn);
        if (experts == 0 && !denied)
            say_experts_left_out(config);
        return;
    }
    MixtureOfExperts moe;
    moe.experts = static_cast<int>(experts);
    moe.experts_per_token = static_cast<int>(config.required(
        {"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts",
         "moe_top_k", "moe_topk", "moe_k", "num_selected_experts", "topk"}));
    const auto width =
        config.number({"moe_intermediate_size", "expert_ffn_hidden_size", "expert_hidden_dim"});
    moe.expert_ffn = width.value_or(t.ffn);
    if (const auto dense = dense_width(config))
        t.ffn = *dense;
    else if (!width)
        config.assume(fmt::format("experts as wide as \"intermediate_size\": {}", t.ffn));
    moe.identity_experts = static_cast<int>(config.count({"zero_expert_num"}, 0));
    moe.latent_width =
        config.count({"moe_latent_size", "routed_expert_hidden_size", "moe_hidden_size"}, 0);
    read_shared_experts(config, t, moe);
    read_dense_layers(config, moe);
    read_groups(config, moe);
    t.moe = moe;
}

// Classes are counted by their names.
std::int64_t class_count(HfConfig& config, std::int64_t usual)
{
    if (const Json* names = config.value("id2label"); names != nullptr && names->is_object())
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(names->members().size()));
    return config.number({"num_labels"}).value_or(usual);
}

std::int64_t vocabulary_of(HfConfig& config)
{
    const std::int64_t entries = config.required({"vocab_size", "padded_vocab_size"});
    const std::int64_t multiple = config.number({"pad_vocab_size_multiple"}).value_or(1);
    return (entries + multiple - 1) / multiple * multiple;
}

// Where no key counts the layers they are as many as a list or a word of them has entries.
int read_layer_count(HfConfig& config)
{
    const HfConfig::Aliases counts{"num_hidden_layers", "n_layer",        "num_layers",
                                   "n_layers",          "decoder_layers", "num_transformer_layers"};
    const bool counted =
        std::ranges::any_of(counts, [&](const std::string& key) { return config.has(key); });
    for (const char* key : {"layers_block_type", "layer_types", "hybrid_override_pattern"})
        if (const Json* list = counted ? nullptr : config.value(key)) {
            const std::size_t entries =
                list->is_array() ? list->items().size()
                : list->is_string()
                    ? static_cast<std::size_t>(std::ranges::count_if(
                          list->as_string(), [](char letter) { return letter != '|'; }))
                    : 0;
            if (entries > 0 && entries <= static_cast<std::size_t>(largest_layers))
                return static_cast<int>(entries);
        }
    return static_cast<int>(config.required(counts, largest_layers));
}

// Tables of the tokens for each layer (Gemma 3n).
void read_layer_embeddings(HfConfig& config, Transformer& t)
{
    t.layer_embedding_width = config.count({"hidden_size_per_layer_input"}, 0);
    if (t.layer_embedding_width > 0)
        config.has("vocab_size_per_layer_input");
}

} // namespace

bool states_feed_forward(HfConfig& config)
{
    HfConfig::Aliases keys = feed_forward_keys();
    for (const char* other : {"moe_intermediate_size", "mlp_ratio", "expansion_ratio",
                              "block_configs", "ffn_multipliers", "multiple_of"})
        keys.emplace_back(other);
    return is_all_recurrent(config) ||
           std::ranges::any_of(keys, [&](const std::string& key) { return config.has(key); });
}

void read_sizes(HfConfig& config, Transformer& t)
{
    t.hidden = config.required(
        {"hidden_size", "n_embd", "n_embed", "d_model", "dim", "model_dim", "emb_dim"});
    t.layers = read_layer_count(config);
    const bool classifies = t.vocabulary > 0; // images, into so many classes
    t.vocabulary = classifies ? class_count(config, t.vocabulary) : vocabulary_of(config);
    read_attention(config, t);
    read_mlp(config, t);
    read_experts(config, t);
    read_prediction_layers(config, t);
    read_layer_embeddings(config, t);
}

} // namespace trainyard
