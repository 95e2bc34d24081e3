#pragma once

// Parts of a layer that selective recompute makes again before backward, as Megatron-Core has them
// (core/transformer/transformer_config.py, recompute_modules, as of 0.14).

#include "sim/base/field_names.h"
#include "sim/workload/kernel.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard {

enum class RecomputeModule : std::uint8_t {
    core_attn,      // scores, softmax and values where attention is not fused
    layernorm,      // norms before the mixer and before the channel part
    mla_up_proj,    // latent attention's norms and up projections, rotary
    mlp,            // of dense layers
    moe_act,        // the experts' activation
    shared_experts, // whole
    moe             // router, exchanges, experts
};

template <>
std::vector<EnumName<RecomputeModule>> enum_names<RecomputeModule>();

struct LayerShape;

// Whether a kept tensor (saved_tensors.h) is dropped after forward and made again.
bool made_again(const LayerShape& shape, std::string_view tensor);

// The items of a layer's forward pass that run again before its backward, in their order.
WorkList items_again(const LayerShape& shape, const WorkList& forward);

} // namespace trainyard
