#include "sim/workload/huggingface.h"

#include "sim/base/json.h"
#include "sim/workload/huggingface/family.h"
#include "sim/workload/huggingface/pattern.h"
#include "sim/workload/huggingface/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Parts of a config that say what its text model is, in configs of several models.
constexpr std::array text_parts{"text_config", "llm_config", "language_config", "thinker_config"};

const Json* nested_in(const Json& node, const char* key)
{
    const Json* nested = node.find(key);
    return nested != nullptr && nested->is_object() ? nested : nullptr;
}

// Only one place of a config says what the text model is: the config itself or one of its parts.
Reader text_part(const Reader& reader)
{
    for (const char* key : text_parts)
        if (nested_in(reader.node(), key) != nullptr)
            return text_part(reader.member(key));
    return reader;
}

Activation activation_of(HfConfig& config, Activation usual)
{
    const std::string name = activation_name(config);
    const auto mentions = [&](std::string_view part) {
        return name.find(part) != std::string::npos;
    };
    if (mentions("gelu"))
        return Activation::gelu;
    if (mentions("relu") || mentions("xielu"))
        return Activation::relu;
    if (mentions("silu") || mentions("swi") || mentions("situ"))
        return Activation::silu;
    if (!name.empty())
        config.assume(fmt::format("activation \"{}\" works like {}", name, to_name(usual)));
    return usual;
}

// Whether the embedding's matrix makes the logits. Of a config of several models each may say: the
// outermost one rules, save in LLaVA's kin, whose text part may have it alone.
bool ties_embeddings(HfConfig& config, bool usual)
{
    const bool own = config.flag("tie_word_embeddings", usual);
    const Json* at = &config.outer().node();
    const Json* family = at->find("model_type");
    while (at != nullptr && at != &config.reader().node()) {
        if (const Json* stated = at->find("tie_word_embeddings");
            stated != nullptr && stated->is_bool()) {
            const bool either = family != nullptr && family->is_string() &&
                                family->as_string().starts_with("llava");
            return stated->as_bool() || (either && own);
        }
        const Json* inner = nullptr;
        for (const char* key : text_parts)
            if (inner == nullptr)
                inner = nested_in(*at, key);
        at = inner;
    }
    return own;
}

// Whether the class that a config names makes states or scores of a text and no logits: embedding
// and reward models, classifiers. Code that comes with a config may call a language model "Model".
bool makes_no_logits(HfConfig& config)
{
    const Json* names = config.outer().node().find("architectures");
    if (names == nullptr || !names->is_array() || names->items().empty() ||
        !names->items().front().is_string())
        return false;
    const std::string& name = names->items().front().as_string();
    const auto says = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    if (says("Classification") || says("Reward"))
        return true;
    return name.ends_with("Model") && !says("LMHead") && !says("DoubleHeads") &&
           config.outer().node().find("auto_map") == nullptr;
}

// Of a decoder: what encoders make is their family's to say.
void drop_unused_logits(HfConfig& config, Transformer& t)
{
    if (t.bert_heads || t.input_elements > 0 || !t.encoders.empty() || !makes_no_logits(config))
        return;
    t.tied_embeddings = true;
    t.head_fraction = 0;
    t.head_bias = false;
    config.assume("states or scores of a text are the result: no token reaches the vocabulary");
}

// Parts of layers that the native form has not, by the keys that speak of them.
void say_what_is_left_out(HfConfig& config)
{
    for (const char* key :
         {"hc_mult", "num_hash_layers", "cross_layer_interval", "H_cycles", "n_recurrent_loops",
          "total_ut_steps", "num_loops", "router_hidden_size", "gated_norm_rank",
          "mtp_hybrid_override_pattern", "mtp_layers_block_type"})
        if (config.has(key))
            config.assume(fmt::format("\"{}\" is not modelled", key));
}

// Keys of models that mix tokens by what the engine has no mixer for.
struct OtherMixer {
    const char* key;
    const char* mixer;
};
constexpr std::array other_mixers{
    OtherMixer{"rescale_every", "RWKV's time mix"},
    OtherMixer{"decay_low_rank_dim", "RWKV's time mix"},
    OtherMixer{"time_mix_extra_dim", "RWKV's time mix"},
    OtherMixer{"attn_mode", "linear attention of flash-linear-attention"},
    OtherMixer{"qk_dim_factor", "xLSTM"},
    OtherMixer{"expand_k", "retention"},
    OtherMixer{"hyena_config", "Hyena"}};

std::vector<std::string_view> modelled_mixers()
{
    std::vector<std::string_view> names;
    for (const EnumName<MixerKind>& kind : enum_names<MixerKind>())
        if (kind.value != MixerKind::none)
            names.push_back(kind.name);
    return names;
}

// Stages of different widths, mixers that are not modelled: another model would be read.
bool is_refused(HfConfig& config)
{
    for (const OtherMixer& other : other_mixers)
        if (config.has(other.key)) {
            config.error_at(
                other.key,
                fmt::format("layers mix tokens by {}, which is not modelled", other.mixer),
                fmt::format("modelled: {}", fmt::join(modelled_mixers(), ", ")));
            return true;
        }
    if (config.flag("is_encoder_decoder", false) && config.has("num_experts")) {
        config.error_at("num_experts", "experts in an encoder are not modelled",
                        "encoders with dense layers are");
        return true;
    }
    const Json* depths = config.value("depths");
    if (depths != nullptr && depths->is_array()) {
        config.error_at("depths", "stages of different widths are not modelled",
                        "models whose layers are of one width are read");
        return true;
    }
    return false;
}

Transformer read_transformer(HfConfig& config, const HfFamily& family)
{
    Transformer t = family.base;
    if (is_refused(config))
        return t;
    const std::size_t before = config.reader().error_count();
    const bool classifies = t.vocabulary > 0;
    read_sizes(config, t);
    if (config.reader().error_count() == before)
        read_pattern(config, t);
    if (t.position == PositionKind::learned && !classifies)
        t.max_positions =
            config.required({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                             "max_sequence_length", "seq_length", "max_target_positions"});
    t.tied_embeddings = ties_embeddings(config, t.tied_embeddings);
    t.tied_embeddings = config.flag("share_input_output_layers", t.tied_embeddings);
    t.activation = activation_of(config, t.activation);
    if (family.refine != nullptr)
        family.refine(config, t);
    drop_unused_logits(config, t);
    say_what_is_left_out(config);
    return t;
}

// "qwen3_5_moe_text" is the text part of "qwen3_5_moe".
std::string without_text(std::string type)
{
    for (const std::string_view end : {"_text_model", "_text", "_thinker"})
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
    return unknown_family(config, type);
}

} // namespace

std::string activation_name(HfConfig& config)
{
    std::string name;
    for (const char* key :
         {"hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act",
          "activation_type", "dense_act_fn", "activation_fn_name", "ff_activation"})
        if (name.empty() && config.has(key))
            name = config.text(key);
    return name;
}

namespace {

// Whether a config has parts beside its text model: in parts of their own, or named where the
// text's sizes are the config's.
bool has_other_parts(const Reader& whole, const HfConfig& config)
{
    if (config.reader().pointer() != whole.pointer())
        return true;
    return std::ranges::any_of(
        std::array{"vision_config", "audio_config", "visual", "mm_vision_tower"},
        [&](const char* key) {
            const Json* part = whole.node().find(key);
            return part != nullptr && !part->is_null();
        });
}

} // namespace

// A config names its family, or at least says the width of a model.
bool is_huggingface_config(const Json& node)
{
    if (std::ranges::any_of(text_parts, [&](const char* key) {
            const Json* nested = nested_in(node, key);
            return nested != nullptr && is_huggingface_config(*nested);
        }))
        return true;
    return std::ranges::any_of(
        std::array{"model_type", "hidden_size", "d_model", "n_embd", "model_dim", "dim"},
        [&](const char* key) { return node.find(key) != nullptr; });
}

std::optional<ImportedModel> read_huggingface(const Reader& whole)
{
    const std::size_t before = whole.error_count();
    HfConfig config(text_part(whole), whole);
    const std::string type = config.text("model_type");
    if (whole.error_count() != before)
        return std::nullopt;
    const HfFamily family = family_of(config, type);
    if (config.reader().pointer() != whole.pointer())
        config.take_defaults(hf_defaults(family.model_type));
    ImportedModel read;
    Transformer transformer = read_transformer(config, family);
    if (whole.error_count() == before) {
        check_head_size(config.reader(), transformer);
        check_transformer(config.reader(), transformer);
    }
    if (whole.error_count() != before)
        return std::nullopt;
    if (transformer.head_dim == 0)
        transformer.head_dim = transformer.hidden / transformer.heads;
    read.model.architecture = transformer;
    read.model.family_known =
        find_hf_family(type) != nullptr || find_hf_family(without_text(type)) != nullptr;
    const std::string name = config.text("_name_or_path");
    read.model.name = name.substr(name.find_last_of('/') + 1);
    read.assumed = config.assumed();
    if (has_other_parts(whole, config) && transformer.encoders.empty())
        read.assumed.push_back("only the text part of the model is trained");
    read.ignored = config.ignored();
    return read;
}

} // namespace trainyard
