#include "sim/workload/recompute_modules.h"

#include "sim/workload/layer_parts.h"

#include <algorithm>

namespace trainyard {
namespace {

using Names = std::vector<std::string_view>;

struct ModuleParts {
    RecomputeModule module;
    Names items;   // of forward, by name; "a_" stands for all that begin so
    Names tensors; // that these make and backward reads
};

// The casts of what is made again are made again as well: the wide tensor is what is dropped.
const std::vector<ModuleParts>& all_parts()
{
    using enum RecomputeModule;
    static const std::vector<ModuleParts> parts{
        {core_attn, {}, {"softmax", "softmax_mask", "softmax_dropped"}},
        {layernorm,
         {"attention_norm", "mlp_norm", "qkv_cast", "mlp_up_cast"},
         {"qkv_input", "mlp_input", "mixer_input"}},
        {mla_up_proj,
         {"attention_q_norm", "attention_kv_norm", "attention_q_up_cast", "attention_q_up",
          "shared_key_gather", "attention_kv_up_cast", "attention_kv_up", "rotary"},
         {"q_up_input", "kv_up_input", "q", "k", "v"}},
        {mlp,
         {"mlp_up", "mlp_up_cast", "mlp_up_input_gather", "mlp_activation", "mlp_down_cast",
          "mlp_down", "mlp_down_reduce"},
         {"activation_input", "down_input"}},
        {moe_act, {"expert_activation", "expert_down_cast"}, {"expert_down_input"}},
        {shared_experts, {"shared_mlp_"}, {"activation_input", "down_input"}},
        {moe,
         {"router", "expert_", "shared_mlp_", "permute", "unpermute"},
         {"router_probabilities", "dispatched", "expert_result_input", "expert_activation_input",
          "expert_down_input", "activation_input", "down_input"}},
    };
    return parts;
}

bool applies(const LayerShape& s, RecomputeModule module)
{
    const bool experts = s.kind.role == LayerKind::Role::moe;
    switch (module) {
    case RecomputeModule::core_attn:
        return s.partition.kernels.attention == AttentionKernel::unfused;
    case RecomputeModule::layernorm:
        return true;
    case RecomputeModule::mla_up_proj:
        return s.model.latent.has_value();
    case RecomputeModule::mlp:
        return !experts;
    case RecomputeModule::moe_act: // a fused kernel keeps only what its second product reads
        return experts && !(s.partition.kernels.fused_experts && s.narrow());
    case RecomputeModule::shared_experts:
        return experts && s.model.moe->shared_expert_ffn > 0;
    case RecomputeModule::moe:
        return experts;
    }
    return false;
}

template <class Visit>
void for_each_module(const LayerShape& s, const Visit& visit)
{
    const std::vector<RecomputeModule>& chosen = s.partition.recompute_modules;
    for (const ModuleParts& parts : all_parts())
        if (std::ranges::find(chosen, parts.module) != chosen.end() && applies(s, parts.module))
            visit(parts);
}

bool listed(const Names& names, std::string_view name)
{
    return std::ranges::any_of(names, [&](std::string_view one) {
        return one == name || (one.ends_with('_') && name.starts_with(one));
    });
}

} // namespace

template <>
std::vector<EnumName<RecomputeModule>> enum_names<RecomputeModule>()
{
    using enum RecomputeModule;
    return {{core_attn, "core_attn"},
            {layernorm, "layernorm"},
            {mla_up_proj, "mla_up_proj"},
            {mlp, "mlp"},
            {moe_act, "moe_act"},
            {shared_experts, "shared_experts"},
            {moe, "moe"}};
}

bool made_again(const LayerShape& s, std::string_view tensor)
{
    bool found = false;
    for_each_module(s, [&](const ModuleParts& parts) {
        found = found || std::ranges::find(parts.tensors, tensor) != parts.tensors.end();
    });
    return found;
}

WorkList items_again(const LayerShape& s, const WorkList& forward)
{
    WorkList out;
    Names names;
    for_each_module(s, [&](const ModuleParts& parts) {
        if (parts.module == RecomputeModule::core_attn)
            append(out, attention_core_forward(s));
        names.insert(names.end(), parts.items.begin(), parts.items.end());
    });
    for (const WorkItem& item : forward)
        if (listed(names, name_of(item)))
            out.push_back(item);
    return out;
}

} // namespace trainyard
