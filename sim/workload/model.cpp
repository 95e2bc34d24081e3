#include "sim/workload/model.h"

namespace trainyard {

bool is_moe_layer(const Transformer& model, int layer)
{
    if (!model.moe || layer < model.moe->leading_dense_layers)
        return false;
    return (layer - model.moe->leading_dense_layers) % model.moe->every == model.moe->every - 1;
}

int moe_layer_count(const Transformer& model)
{
    if (!model.moe || model.layers <= model.moe->leading_dense_layers)
        return 0;
    return (model.layers - model.moe->leading_dense_layers) / model.moe->every;
}

bool has_window(const Transformer& model, int layer)
{
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
