#include "sim/workload/huggingface.h"

#include "sim/base/json.h"
#include "sim/base/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::int64_t largest_layers = 10000;

const std::vector<std::string> encoder_decoders{"t5",    "mt5",    "umt5",    "longt5",  "bart",
                                                "mbart", "marian", "pegasus", "whisper", "m2m_100"};

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
    for (const char* key : {"index_topk", "index_n_heads"})
        if (config.has(key))
            config.error_at(key, "sparse attention (an indexer that picks keys) is not supported",
                            "supported: latent attention over all keys, as DeepSeek-V3 has it");
    t.latent = latent;
    t.kv_heads = t.heads;
    t.head_dim = latent.head_dim();
}

Activation activation_of(HfConfig& config, Activation usual)
{
    std::string name;
    for (const char* key : {"hidden_act", "hidden_activation", "activation_function"})
        if (name.empty())
            name = config.text(key);
    if (name.find("gelu") != std::string::npos)
        return Activation::gelu;
    if (name.find("relu") != std::string::npos)
        return Activation::relu;
    if (!name.empty() && name != "silu" && name != "swish")
        config.assume(fmt::format("activation \"{}\" works like {}", name, to_name(usual)));
    return usual;
}

void read_attention(HfConfig& config, Transformer& t)
{
    t.heads = static_cast<int>(config.required({"num_attention_heads", "n_head"}));
    const auto kv_heads = config.number({"num_key_value_heads"});
    t.kv_heads = static_cast<int>(kv_heads.value_or(t.heads));
    if (!kv_heads && t.gated_mlp)
        config.assume(fmt::format("key heads: as many as query heads, {}", t.heads));
    t.head_dim = config.count({"head_dim"}, 0);
    read_latent_attention(config, t);
}

void read_mlp(HfConfig& config, Transformer& t)
{
    const HfConfig::Aliases names{"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
    const std::size_t before = config.reader().error_count();
    const auto ffn = config.number(names);
    if (!ffn && t.gated_mlp && config.reader().error_count() == before)
        config.reader().error("\"intermediate_size\" is missing",
                              "a config.json of this family has it");
    if (!ffn && !t.gated_mlp)
        config.assume(
            fmt::format("feed-forward size {}: four times the hidden size", 4 * t.hidden));
    t.ffn = ffn.value_or(4 * t.hidden);
}

// "mlp_only_layers" must be the first layers: the only kind of exception that is modelled.
void read_dense_layers(HfConfig& config, MixtureOfExperts& moe)
{
    moe.leading_dense_layers = static_cast<int>(config.count({"first_k_dense_replace"}, 0));
    moe.every =
        static_cast<int>(config.number({"decoder_sparse_step", "moe_layer_freq"}).value_or(1));
    if (!config.has("mlp_only_layers"))
        return;
    const Json& list = *config.reader().node().find("mlp_only_layers");
    if (!list.is_array())
        return config.error_at("mlp_only_layers",
                               fmt::format("expected a list of layers, found {}", list.kind_name()),
                               "numbers from 0 on: [], [0], [0, 1], ...");
    for (std::size_t i = 0; i < list.items().size(); ++i)
        if (!list.items()[i].is_integer() ||
            list.items()[i].as_integer() != static_cast<std::int64_t>(i))
            return config.error_at("mlp_only_layers",
                                   "dense layers among the MoE layers are not supported",
                                   "dense layers come first: [], [0], [0, 1], ...");
    if (!list.items().empty())
        moe.leading_dense_layers = static_cast<int>(list.items().size());
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
    t.prediction_layers = static_cast<int>(config.count({"num_nextn_predict_layers"}, 0));
    if (t.prediction_layers > 0)
        config.assume(fmt::format("{} multi-token prediction layer{} trained with the model",
                                  t.prediction_layers, t.prediction_layers > 1 ? "s are" : " is"));
}

void read_experts(HfConfig& config, Transformer& t)
{
    const auto experts = config.number({"num_experts", "num_local_experts", "n_routed_experts"});
    if (!experts)
        return;
    MixtureOfExperts moe;
    moe.experts = static_cast<int>(*experts);
    moe.experts_per_token =
        static_cast<int>(config.required({"num_experts_per_tok", "num_experts_per_token"}));
    const auto width = config.number({"moe_intermediate_size"});
    moe.expert_ffn = width.value_or(t.ffn);
    if (!width)
        config.assume(fmt::format("experts as wide as \"intermediate_size\": {}", t.ffn));
    moe.shared_expert_ffn = config.count({"shared_expert_intermediate_size"}, 0);
    moe.shared_expert_gate = moe.shared_expert_ffn > 0;
    if (moe.shared_expert_ffn == 0)
        moe.shared_expert_ffn = config.count({"n_shared_experts"}, 0) * moe.expert_ffn;
    read_dense_layers(config, moe);
    read_groups(config, moe);
    t.moe = moe;
}

Transformer read_transformer(HfConfig& config, const HfFamily& family)
{
    Transformer t = family.base;
    t.hidden = config.required({"hidden_size", "n_embd", "n_embed", "d_model"});
    t.layers = static_cast<int>(
        config.required({"num_hidden_layers", "n_layer", "num_layers"}, largest_layers));
    t.vocabulary = config.required({"vocab_size"});
    read_attention(config, t);
    read_mlp(config, t);
    read_experts(config, t);
    read_prediction_layers(config, t);
    if (t.position == PositionKind::learned)
        t.max_positions = config.required({"max_position_embeddings", "n_positions", "n_ctx"});
    t.tied_embeddings = config.flag("tie_word_embeddings", t.tied_embeddings);
    t.activation = activation_of(config, t.activation);
    if (family.refine != nullptr)
        family.refine(config, t);
    return t;
}

// Reports why the family cannot be read.
void refuse_family(HfConfig& config, const std::string& type)
{
    if (std::find(encoder_decoders.begin(), encoder_decoders.end(), type) != encoder_decoders.end())
        config.error_at(
            "model_type", fmt::format("\"{}\" is an encoder-decoder: not supported", type),
            fmt::format("decoders and encoders are: {}", fmt::join(hf_family_names(), ", ")));
    else
        config.error_at("model_type", fmt::format("unknown model family \"{}\"", type),
                        suggestion(type, hf_family_names()));
}

} // namespace

bool is_huggingface_config(const Json& node)
{
    const Json* nested = node.find("text_config");
    return node.find("model_type") != nullptr ||
           (nested != nullptr && nested->find("model_type") != nullptr);
}

std::optional<ImportedModel> read_huggingface(const Reader& whole)
{
    const std::size_t before = whole.error_count();
    HfConfig config(text_part(whole));
    const std::string type = config.text("model_type");
    if (whole.error_count() != before)
        return std::nullopt;
    if (type.empty()) {
        config.reader().error("\"model_type\" is missing",
                              fmt::format("one of: {}", fmt::join(hf_family_names(), ", ")));
        return std::nullopt;
    }
    const HfFamily* family = find_hf_family(type);
    if (family == nullptr) {
        refuse_family(config, type);
        return std::nullopt;
    }
    ImportedModel read;
    Transformer transformer = read_transformer(config, *family);
    if (whole.error_count() == before) {
        check_head_size(config.reader(), transformer);
        check_transformer(config.reader(), transformer);
    }
    if (transformer.head_dim == 0)
        transformer.head_dim = transformer.hidden / transformer.heads;
    if (whole.error_count() != before)
        return std::nullopt;
    read.model.architecture = transformer;
    const std::string name = config.text("_name_or_path");
    read.model.name = name.substr(name.find_last_of('/') + 1);
    read.assumed = config.assumed();
    if (config.reader().pointer() != whole.pointer())
        read.assumed.push_back("only the text part of the model is trained");
    read.ignored = config.ignored();
    return read;
}

} // namespace trainyard
