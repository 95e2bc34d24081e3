#pragma once

// Parts of a layer that selective recompute makes again before backward: as Megatron-Core has them
// (core/transformer/transformer_config.py, recompute_modules, as of 0.14), and torchtitan's policy
// by op (distributed/activation_checkpoint.py).

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
    moe,            // router, exchanges, experts
    // All but the attention core, every other matrix product (query, value, the MLP's first; keys,
    // the attention's output and the MLP's second are made again) and what TP scatters.
    per_op
};

template <>
std::vector<EnumName<RecomputeModule>> enum_names<RecomputeModule>();

// Megatron-Core knows it by this name.
constexpr bool is_of_megatron(RecomputeModule module)
{
    return module != RecomputeModule::per_op;
}

struct LayerShape;

// The share of a kept tensor (saved_tensors.h) that is dropped after forward and made again.
double share_made_again(const LayerShape& shape, std::string_view tensor);

// Whether the last product's result stays although nobody reads it again: the policy by op says so,
// and only a compiler would find out.
bool keeps_unread(const LayerShape& shape);

// The items of a layer's forward pass that run again before its backward, in their order.
WorkList items_again(const LayerShape& shape, const WorkList& forward);

} // namespace trainyard
