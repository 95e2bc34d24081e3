#include "sim/workload/model.h"

#include "sim/workload/kernel.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

int form_number(const Transformer& model, int layer)
{
    if (model.pattern.empty())
        return -1;
    const std::string& name = model.pattern[static_cast<std::size_t>(layer) % model.pattern.size()];
    const auto found = std::ranges::find(model.layer_forms, name, &LayerForm::name);
    return static_cast<int>(found - model.layer_forms.begin());
}

namespace {

const LayerForm* form_of_layer(const Transformer& model, int layer)
{
    const int number = form_number(model, layer);
    return number < 0 ? nullptr : &model.layer_forms[static_cast<std::size_t>(number)];
}

} // namespace

bool is_moe_layer(const Transformer& model, int layer)
{
    if (const LayerForm* form = form_of_layer(model, layer); form != nullptr && form->channel)
        return form->channel == ChannelKind::experts;
    if (!model.moe || layer < model.moe->leading_dense_layers)
        return false;
    return (layer - model.moe->leading_dense_layers) % model.moe->every == model.moe->every - 1;
}

int moe_layer_count(const Transformer& model)
{
    int count = 0;
    for (int layer = 0; layer < model.layers; ++layer)
        count += is_moe_layer(model, layer) ? 1 : 0;
    return count;
}

std::int64_t Transformer::keys_per_query(std::int64_t sequence_length) const
{
    if (key_compression == 1)
        return indexer ? indexer->keys_per_query : sliding_window;
    const auto keys = static_cast<double>(sequence_length);
    const double own = sliding_window > 0 ? visible_pairs(1, keys, {causal, sliding_window}) : 0;
    const double compressed =
        indexer ? picked_keys(keys) : visible_pairs(1, keys / key_compression, {causal, 0});
    const double seen = own + compressed;
    // Of a causal window of w keys, w - w^2 / 2k are seen.
    const double window =
        causal ? keys * (1 - std::sqrt(std::max(0.0, 1 - 2 * seen / keys))) : seen;
    return std::max<std::int64_t>(1, std::llround(window));
}

double Transformer::picked_keys(double sequence_length) const
{
    return visible_pairs(1, sequence_length / key_compression, {causal, indexer->keys_per_query});
}

Transformer encoder_stack(const Transformer& model, const Encoder& encoder)
{
    Transformer stack;
    stack.hidden = encoder.hidden;
    stack.layers = encoder.layers;
    stack.heads = stack.kv_heads = encoder.heads;
    stack.head_dim = encoder.head_dim > 0 ? encoder.head_dim : encoder.hidden / encoder.heads;
    stack.ffn = encoder.ffn;
    stack.vocabulary = model.vocabulary;
    stack.input_elements = encoder.input_elements;
    stack.max_positions = encoder.positions;
    stack.causal = false;
    stack.gated_mlp = encoder.gated_mlp;
    stack.linear_bias = encoder.linear_bias;
    stack.dropout = model.dropout;
    stack.norm = encoder.norm;
    stack.position = encoder.positions > 0 ? PositionKind::learned : PositionKind::none;
    stack.activation = encoder.activation;
    return stack;
}

bool has_channel(const Transformer& model, int layer)
{
    const LayerForm* form = form_of_layer(model, layer);
    return form == nullptr || form->channel != ChannelKind::none;
}

bool has_window(const Transformer& model, int layer)
{
    if (const LayerForm* form = form_of_layer(model, layer); form != nullptr) {
        if (form->mixer.value_or(model.mixer) != MixerKind::attention)
            return false;
        if (form->sliding_window)
            return *form->sliding_window > 0;
    }
    if (model.sliding_window == 0)
        return false;
    return model.full_attention_every == 0 || (layer + 1) % model.full_attention_every != 0;
}

bool Model::is_moe() const
{
    const auto* transformer = std::get_if<Transformer>(&architecture);
    return transformer != nullptr && moe_layer_count(*transformer) > 0;
}

template <>
std::vector<EnumName<MixerKind>> enum_names<MixerKind>()
{
    return {{MixerKind::attention, "attention"},
            {MixerKind::mamba, "mamba"},
            {MixerKind::mamba2, "mamba2"},
            {MixerKind::gated_delta_net, "gated_delta_net"},
            {MixerKind::kimi_delta_attention, "kimi_delta_attention"},
            {MixerKind::lightning_attention, "lightning_attention"},
            {MixerKind::rg_lru, "rg_lru"},
            {MixerKind::short_convolution, "short_convolution"},
            {MixerKind::none, "none"}};
}

template <>
std::vector<EnumName<ChannelKind>> enum_names<ChannelKind>()
{
    return {
        {ChannelKind::mlp, "mlp"}, {ChannelKind::experts, "experts"}, {ChannelKind::none, "none"}};
}

template <>
std::vector<EnumName<NormKind>> enum_names<NormKind>()
{
    return {{NormKind::layer_norm, "layer_norm"}, {NormKind::rms_norm, "rms_norm"}};
}

template <>
std::vector<EnumName<PositionKind>> enum_names<PositionKind>()
{
    return {{PositionKind::learned, "learned"},
            {PositionKind::rotary, "rotary"},
            {PositionKind::none, "none"}};
}

template <>
std::vector<EnumName<Activation>> enum_names<Activation>()
{
    return {{Activation::gelu, "gelu"}, {Activation::relu, "relu"}, {Activation::silu, "silu"}};
}

} // namespace trainyard
