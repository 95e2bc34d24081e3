#include "sim/workload/huggingface.h"

#include "sim/base/json.h"
#include "sim/base/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::int64_t largest_layers = 10000;

// Only one place of a config says what the text model is: the config itself or "text_config".
Reader text_part(const Reader& reader)
{
    const Json* nested = reader.node().find("text_config");
    return nested != nullptr && nested->is_object() ? reader.member("text_config") : reader;
}

// DeepSeek's attention, told by its keys whatever the family.
void read_latent_attention(HfConfig& config, Transformer& t)
{
    if (!config.has("kv_lora_rank"))
        return;
    LatentAttention latent;
    latent.q_lora_rank = config.number({"q_lora_rank"}).value_or(0);
    latent.kv_lora_rank = config.required({"kv_lora_rank"});
    latent.qk_nope_head_dim = config.required({"qk_nope_head_dim"});
    latent.qk_rope_head_dim = config.required({"qk_rope_head_dim"});
    latent.v_head_dim = config.required({"v_head_dim"});
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
    for (const char* key : {"hc_mult", "num_hash_layers"})
        if (config.has(key))
            config.assume(fmt::format("\"{}\" is not modelled", key));
}

Activation activation_of(HfConfig& config, Activation usual)
{
    const std::string name = activation_name(config);
    const auto mentions = [&](std::string_view part) {
        return name.find(part) != std::string::npos;
    };
    if (mentions("gelu"))
        return Activation::gelu;
    if (mentions("relu"))
        return Activation::relu;
    if (mentions("silu") || mentions("swi"))
        return Activation::silu;
    if (!name.empty())
        config.assume(fmt::format("activation \"{}\" works like {}", name, to_name(usual)));
    return usual;
}

int read_key_heads(HfConfig& config, const Transformer& t)
{
    if (config.flag("multi_query_attention", false))
        return static_cast<int>(config.number({"multi_query_group_num"}).value_or(1));
    if (const auto heads = config.number(
            {"num_key_value_heads", "num_kv_heads", "kv_n_heads", "n_kv_heads", "n_head_kv"}))
        return static_cast<int>(*heads);
    if (t.gated_mlp && !config.has("state_size"))
        config.assume(fmt::format("key heads: as many as query heads, {}", t.heads));
    return t.heads;
}

void read_attention(HfConfig& config, Transformer& t)
{
    t.heads = static_cast<int>(config.required(
        {"num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"}));
    t.kv_heads = read_key_heads(config, t);
    t.head_dim = config.count({"head_dim", "kv_channels", "d_kv", "attention_head_dim"}, 0);
    if (config.flag("use_sliding_window", true))
        t.sliding_window = config.number({"sliding_window"}).value_or(0);
    t.qk_norm = config.flag("use_qk_norm", t.qk_norm) || config.flag("qk_layernorm", false);
    t.attention_gate = config.flag("attn_output_gate", t.attention_gate);
    read_latent_attention(config, t);
    read_indexer(config, t);
    read_narrow_results(config, t);
}

// A feed-forward size is given, or as a multiple of the hidden size.
void read_mlp(HfConfig& config, Transformer& t)
{
    const HfConfig::Aliases names{
        "intermediate_size", "n_inner",         "ffn_dim",         "ffn_hidden_size", "d_ff",
        "decoder_ffn_dim",   "mlp_hidden_size", "intermediate_dim"};
    const HfConfig::Aliases multiples{"mlp_ratio", "expansion_ratio"};
    const HfConfig::Aliases of_experts{"moe_intermediate_size"};
    const std::size_t before = config.reader().error_count();
    auto ffn = config.number(names);
    if (!ffn && config.reader().error_count() == before)
        if (const auto times = config.number(multiples))
            ffn = *times * t.hidden;
    if (!ffn && config.reader().error_count() == before)
        ffn = config.number(of_experts);
    // Widths of each layer, or layers without an MLP (Mamba-2).
    const bool by_layer = config.has("block_configs") || config.has("state_size");
    if (!ffn && t.gated_mlp && !by_layer && config.reader().error_count() == before)
        config.reader().error("\"intermediate_size\" is missing",
                              "a config.json of this family has it");
    if (!ffn && !t.gated_mlp)
        config.assume(
            fmt::format("feed-forward size {}: four times the hidden size", 4 * t.hidden));
    t.ffn = ffn.value_or(4 * t.hidden);
}

// Where experts' layers follow a rule; lists of layers are the pattern's.
void read_dense_layers(HfConfig& config, MixtureOfExperts& moe)
{
    moe.leading_dense_layers = static_cast<int>(config.count({"first_k_dense_replace"}, 0));
    if (const Json* list = config.value("moe_layer_freq"); list == nullptr || !list->is_array())
        moe.every =
            static_cast<int>(config
                                 .number({"decoder_sparse_step", "moe_layer_freq",
                                          "interleave_moe_layer_step", "moe_layer_interval"})
                                 .value_or(1));
}

// Scores by softmax or sigmoid, scaled or not, cost the same.
void read_groups(HfConfig& config, MixtureOfExperts& moe)
{
    for (const char* key :
         {"scoring_func", "topk_method", "norm_topk_prob", "routed_scaling_factor"})
        config.has(key);
    const auto groups = config.number({"n_group"});
    const auto per_token = config.number({"topk_group"});
    const bool limited = config.text("topk_method") != "greedy";
    if (!groups || !per_token || !limited)
        return;
    moe.groups = static_cast<int>(*groups);
    moe.groups_per_token = static_cast<int>(*per_token);
}

void read_prediction_layers(HfConfig& config, Transformer& t)
{
    t.prediction_layers =
        static_cast<int>(config.count({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0));
    if (config.flag("use_mtp", false))
        t.prediction_layers =
            static_cast<int>(config.number({"num_mtp_modules"}, 100).value_or(1) *
                             config.number({"mtp_transformer_layers"}, 100).value_or(1));
    if (t.prediction_layers > 0)
        config.assume(fmt::format("{} multi-token prediction layer{} trained with the model",
                                  t.prediction_layers, t.prediction_layers > 1 ? "s are" : " is"));
}

void read_shared_experts(HfConfig& config, MixtureOfExperts& moe)
{
    moe.shared_expert_ffn = config.count({"shared_expert_intermediate_size"}, 0);
    moe.shared_expert_gate = moe.shared_expert_ffn > 0;
    if (moe.shared_expert_ffn == 0)
        moe.shared_expert_ffn =
            config.count({"moe_shared_expert_intermediate_size", "shared_intermediate_size"}, 0);
    if (moe.shared_expert_ffn == 0)
        moe.shared_expert_ffn =
            config.count({"n_shared_experts", "num_shared_experts"}, 0) * moe.expert_ffn;
    for (const char* also : {"n_shared_experts", "num_shared_experts"})
        config.has(also);
}

void read_experts(HfConfig& config, Transformer& t)
{
    const auto experts =
        config.number({"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"});
    if (!experts || *experts == 1 || !config.flag("enable_moe_block", true))
        return;
    MixtureOfExperts moe;
    moe.experts = static_cast<int>(*experts);
    moe.experts_per_token = static_cast<int>(config.required(
        {"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts",
         "moe_top_k", "moe_topk", "moe_k", "num_selected_experts", "topk"}));
    const auto width = config.number({"moe_intermediate_size", "expert_ffn_hidden_size"});
    moe.expert_ffn = width.value_or(t.ffn);
    if (!width)
        config.assume(fmt::format("experts as wide as \"intermediate_size\": {}", t.ffn));
    moe.identity_experts = static_cast<int>(config.count({"zero_expert_num"}, 0));
    moe.latent_width = config.count({"moe_latent_size"}, 0);
    read_shared_experts(config, moe);
    if (config.has("enable_moe_block")) // Gemma 4: every layer keeps its MLP beside the experts
        moe.shared_expert_ffn = t.ffn;
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

std::int64_t layer_count(HfConfig& config)
{
    return config.required(
        {"num_hidden_layers", "n_layer", "num_layers", "n_layers", "decoder_layers"},
        largest_layers);
}

Transformer read_transformer(HfConfig& config, const HfFamily& family)
{
    const std::size_t before = config.reader().error_count();
    Transformer t = family.base;
    t.hidden = config.required({"hidden_size", "n_embd", "n_embed", "d_model", "dim"});
    t.layers = static_cast<int>(layer_count(config));
    const bool classifies = t.vocabulary > 0; // images, into so many classes
    t.vocabulary = classifies ? class_count(config, t.vocabulary)
                              : config.required({"vocab_size", "padded_vocab_size"});
    read_attention(config, t);
    read_mlp(config, t);
    read_experts(config, t);
    read_prediction_layers(config, t);
    if (config.reader().error_count() == before)
        read_pattern(config, t);
    if (t.position == PositionKind::learned && !classifies)
        t.max_positions =
            config.required({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                             "max_sequence_length", "seq_length", "max_target_positions"});
    t.tied_embeddings = config.flag("tie_word_embeddings", t.tied_embeddings);
    t.activation = activation_of(config, t.activation);
    if (family.refine != nullptr)
        family.refine(config, t);
    return t;
}

// "qwen3_5_moe_text" is the text part of "qwen3_5_moe".
std::string without_text(std::string type)
{
    for (const std::string_view end : {"_text_model", "_text"})
        if (type.ends_with(end))
            return type.substr(0, type.size() - end.size());
    return type;
}

// " (did you mean "llama"?)", of a name that is nearly one.
std::string likely_family(const std::string& type)
{
    const std::string hint = suggestion(type, hf_family_names());
    return hint.starts_with("did you mean") ? fmt::format(" ({})", hint) : "";
}

HfFamily family_of(HfConfig& config, const std::string& type)
{
    for (const std::string& name : {type, without_text(type)})
        if (const HfFamily* family = find_hf_family(name))
            return *family;
    config.assume(
        type.empty()
            ? "the family is not named: every key is read as its name says"
            : fmt::format("family \"{}\" is not known{}: every key is read as its name says", type,
                          likely_family(type)));
    if (config.flag("is_encoder_decoder", false))
        return *find_hf_family(config.has("encoder_layers") ? "whisper" : "t5");
    return {type, unknown_family(config), nullptr};
}

} // namespace

std::string activation_name(HfConfig& config)
{
    std::string name;
    for (const char* key : {"hidden_act", "hidden_activation", "activation_function",
                            "mlp_hidden_act", "activation_type", "dense_act_fn"})
        if (name.empty() && config.has(key))
            name = config.text(key);
    return name;
}

// A config names its family, or at least says the width of a model.
bool is_huggingface_config(const Json& node)
{
    const Json* nested = node.find("text_config");
    const auto is_config = [](const Json& part) {
        return part.find("model_type") != nullptr || part.find("hidden_size") != nullptr ||
               part.find("d_model") != nullptr || part.find("n_embd") != nullptr;
    };
    return is_config(node) || (nested != nullptr && nested->is_object() && is_config(*nested));
}

std::optional<ImportedModel> read_huggingface(const Reader& whole)
{
    const std::size_t before = whole.error_count();
    HfConfig config(text_part(whole), whole);
    const std::string type = config.text("model_type");
    if (whole.error_count() != before)
        return std::nullopt;
    const HfFamily family = family_of(config, type);
    ImportedModel read;
    Transformer transformer = read_transformer(config, family);
    if (whole.error_count() == before) {
        check_head_size(config.reader(), transformer);
        check_transformer(config.reader(), transformer);
    }
    if (transformer.head_dim == 0)
        transformer.head_dim = transformer.hidden / transformer.heads;
    if (whole.error_count() != before)
        return std::nullopt;
    read.model.architecture = transformer;
    read.model.family_known =
        find_hf_family(type) != nullptr || find_hf_family(without_text(type)) != nullptr;
    const std::string name = config.text("_name_or_path");
    read.model.name = name.substr(name.find_last_of('/') + 1);
    read.assumed = config.assumed();
    if (config.reader().pointer() != whole.pointer() && transformer.encoders.empty())
        read.assumed.push_back("only the text part of the model is trained");
    read.ignored = config.ignored();
    return read;
}

} // namespace trainyard
