#include "sim/workload/model_summary.h"

#include "sim/workload/encoder_work.h"
#include "sim/workload/parameters.h"
#include "sim/workload/recurrent_mixer.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::string mixer_words(const Transformer& model)
{
    if (model.mixer == MixerKind::none)
        return "";
    if (model.mixer != MixerKind::attention) {
        std::string words(to_name(model.mixer));
        std::ranges::replace(words, '_', ' ');
        return words;
    }
    if (model.key_compression > 1)
        return fmt::format("{}keys of {} tokens", model.indexer ? "sparse " : "",
                           model.key_compression);
    if (model.indexer)
        return fmt::format("sparse attention of {}", model.indexer->keys_per_query);
    if (model.latent)
        return model.sliding_window > 0
                   ? fmt::format("latent attention in a window of {}", model.sliding_window)
                   : "latent attention";
    if (model.sliding_window > 0)
        return fmt::format("window of {}", model.sliding_window);
    if (model.attention_chunk > 0)
        return fmt::format("chunks of {}", model.attention_chunk);
    return "attention";
}

std::string encoder_name(const Transformer& model, const LayerKind& kind)
{
    const std::string& name = model.encoders[static_cast<std::size_t>(kind.encoder)].name;
    return name.empty() ? "encoder" : name;
}

// Numbers that generation keeps of a sequence in one layer's own attention.
double kept_keys(const Transformer& model, std::int64_t length)
{
    if (model.mixer != MixerKind::attention || model.earlier_keys)
        return 0;
    std::int64_t seen = length;
    for (const std::int64_t limit : {model.sliding_window, model.attention_chunk})
        if (limit > 0)
            seen = std::min(seen, limit);
    if (model.key_compression > 1)
        seen = std::min(length, model.sliding_window) + length / model.key_compression;
    const std::int64_t values = model.shared_key_value ? 0 : model.value_dim();
    std::int64_t width = model.kv_heads * (model.head_dim + values);
    if (model.latent)
        width = model.latent->kv_lora_rank + model.latent->qk_rope_head_dim;
    if (model.indexer)
        width += model.indexer->head_dim;
    return static_cast<double>(seen * width);
}

// ... and of the encoders' tokens in attention to them.
double kept_source(const Transformer& whole, const Transformer& model)
{
    return model.cross_attention
               ? static_cast<double>(source_tokens(whole) * 2 * model.kv_heads * model.head_dim)
               : 0;
}

ModelSummary of_list(const LayerList& list, ModelSummary summary)
{
    for (const NativeLayer& layer : list.layers) {
        summary.layers += layer.repeat;
        const Flops forward(2.0 * static_cast<double>(layer.rows) *
                            static_cast<double>(layer.columns) * static_cast<double>(layer.inner));
        summary.groups.push_back({layer.name, layer.repeat, false,
                                  static_cast<double>(layer.parameters),
                                  static_cast<double>(layer.parameters), forward});
    }
    return summary;
}

Bytes in_16_bits(double numbers)
{
    return Bytes(static_cast<std::uint64_t>(2 * numbers));
}

} // namespace

std::string layer_words(const Transformer& model, const LayerKind& kind)
{
    const LayerModel of_kind(model, kind);
    switch (kind.role) {
    case LayerKind::Role::embedding:
        return kind.encoder >= 0 ? fmt::format("ends of {}", encoder_name(model, kind))
                                 : "embedding";
    case LayerKind::Role::head:
        return "head";
    default:
        break;
    }
    std::string words = mixer_words(*of_kind);
    if (of_kind->cross_attention)
        words += words.empty() ? "cross attention" : " + cross attention";
    if (kind.channel) {
        words += words.empty() ? "" : " + ";
        words += kind.role == LayerKind::Role::moe ? "experts" : "mlp";
        if (kind.role == LayerKind::Role::dense && kind.form >= 0 && of_kind->ffn != model.ffn)
            words += fmt::format(" of {}", of_kind->ffn);
    }
    if (kind.encoder >= 0)
        words += fmt::format(" of {}", encoder_name(model, kind));
    if (of_kind->earlier_keys)
        words += " (earlier keys)";
    if (kind.shares)
        words += " (the first's)";
    if (kind.predicts_further)
        words += " (predicts further)";
    return words;
}

std::int64_t usual_sequence_length(const Model& model)
{
    constexpr std::int64_t usual = 4096;
    const auto* transformer = std::get_if<Transformer>(&model.architecture);
    const bool ends = transformer != nullptr && transformer->position == PositionKind::learned &&
                      transformer->max_positions > 0;
    return ends ? std::min(usual, transformer->max_positions) : usual;
}

ModelSummary summarize(const Model& model, std::int64_t sequence_length)
{
    ModelSummary summary;
    summary.name = model.name;
    summary.sequence_length = sequence_length;
    summary.parameters = count_parameters(model);
    summary.adam_states = Bytes(static_cast<std::uint64_t>(16 * summary.parameters.total));
    summary.trained_token = model_flops_per_sequence(model, sequence_length) *
                            (1.0 / static_cast<double>(sequence_length));
    if (const auto* list = std::get_if<LayerList>(&model.architecture))
        return of_list(*list, summary);
    const Transformer& transformer = std::get<Transformer>(model.architecture);
    double keys = 0;
    double states = 0;
    for (const LayerKind& kind : layers_of(model)) {
        const bool inner = kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe;
        const LayerModel of_kind(transformer, kind);
        if (inner && !kind.predicts_further && kind.encoder < 0) {
            ++summary.layers;
            keys += kept_keys(*of_kind, sequence_length) + kept_source(transformer, *of_kind);
            states += of_kind->is_recurrent() ? recurrent_state_numbers(*of_kind) : 0;
        }
        const std::string name = layer_words(transformer, kind);
        LayerGroup one{name,
                       1,
                       !inner,
                       0,
                       0,
                       forward_flops_per_sequence(transformer, kind, sequence_length) *
                           (1.0 / static_cast<double>(sequence_length))};
        for (const ParameterTensor& tensor : parameter_tensors(transformer, kind)) {
            one.parameters += tensor.shared ? 0 : tensor.elements;
            one.active += tensor.shared ? 0 : tensor.active_elements();
        }
        if (kind.predicts_further) {
            summary.predicting += one.parameters;
            summary.predicting_active += one.active;
        }
        // Kinds that differ in nothing shown are one row.
        const auto alike = [&](const LayerGroup& other) {
            return other.name == one.name && other.parameters == one.parameters &&
                   other.active == one.active &&
                   other.forward_of_token.value() == one.forward_of_token.value();
        };
        const auto group = std::ranges::find_if(summary.groups, alike);
        if (group == summary.groups.end())
            summary.groups.push_back(std::move(one));
        else
            ++group->layers;
    }
    summary.keys_and_values = in_16_bits(keys);
    summary.states = in_16_bits(states);
    return summary;
}

} // namespace trainyard
