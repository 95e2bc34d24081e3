#include "sim/workload/recompute_modules.h"

#include "sim/workload/layer_parts.h"

#include <algorithm>
#include <cmath>

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
        {per_op,
         {"attention_norm", "qkv_cast", "qk_norm", "rotary", "attention_residual", "mlp_norm",
          "mlp_up_cast", "mlp_activation", "mlp_down_cast", "router", "expert_", "shared_mlp_",
          "permute", "unpermute"},
         {"qkv_input", "k", "mlp_input", "down_input", "router_probabilities", "dispatched",
          "expert_result_input", "expert_activation_input", "expert_down_input"}},
    };
    return parts;
}

// Of per_op's, what is made again in part or not always.
struct PerOp {
    explicit PerOp(const LayerShape& shape) : s(shape) {}

    // The attention's output would be made again for the sum behind it; what TP scatters is kept.
    bool output_again() const { return !s.sequence_parallel; }
    // Of the product that makes query, key and value: the key's columns.
    double of_qkv() const
    {
        const auto keys = static_cast<double>(s.kv_heads * s.head_dim);
        return s.model.latent ? 0 : keys / (static_cast<double>(s.heads * s.head_dim) + 2 * keys);
    }
    // Of a gated MLP's first product: the half beside the gate.
    double of_up() const { return s.model.gated_mlp ? 0.5 : 0; }

    double share(std::string_view tensor) const
    {
        if (tensor == "mlp_norm_input")
            return output_again() ? 1 : 0;
        if (tensor == "activation_input")
            return s.kind.role == LayerKind::Role::moe ? 1 : of_up();
        return 0;
    }
    double share_of_item(std::string_view item) const
    {
        if (item.starts_with("attention_output"))
            return output_again() ? 1 : 0;
        return item == "qkv" ? of_qkv() : item == "mlp_up" ? of_up() : 0;
    }

    const LayerShape& s;
};

bool applies(const LayerShape& s, RecomputeModule module)
{
    const bool experts = s.kind.role == LayerKind::Role::moe;
    switch (module) {
    case RecomputeModule::core_attn:
        return s.has_mixer() && !s.model.is_recurrent() &&
               s.partition.kernels.attention == AttentionKernel::unfused;
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
    case RecomputeModule::per_op:
        return true;
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

// A product with that share of its columns.
WorkItem columns_of(const WorkItem& item, double share)
{
    WorkItem out = item;
    auto* const kernel = std::get_if<Kernel>(&out);
    if (kernel == nullptr || kernel->kind != KernelKind::gemm || share == 1)
        return out;
    GemmShape& gemm = kernel->gemm;
    const auto moved = [&gemm] {
        return static_cast<double>(gemm.m * gemm.k + gemm.k * gemm.n + gemm.m * gemm.n);
    };
    const double whole = moved();
    gemm.n = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(gemm.n)));
    kernel->bytes = scaled(kernel->bytes, moved() / whole);
    return out;
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
            {moe, "moe"},
            {per_op, "per_op"}};
}

double share_made_again(const LayerShape& s, std::string_view tensor)
{
    double share = 0;
    for_each_module(s, [&](const ModuleParts& parts) {
        if (std::ranges::find(parts.tensors, tensor) != parts.tensors.end())
            share = 1;
        else if (parts.module == RecomputeModule::per_op)
            share = std::max(share, PerOp(s).share(tensor));
    });
    return share;
}

bool keeps_unread(const LayerShape& s)
{
    const std::vector<RecomputeModule>& chosen = s.partition.recompute_modules;
    return !s.partition.kernels.fused_elementwise &&
           std::ranges::find(chosen, RecomputeModule::per_op) != chosen.end();
}

WorkList items_again(const LayerShape& s, const WorkList& forward)
{
    WorkList out;
    Names names;
    bool per_op = false;
    for_each_module(s, [&](const ModuleParts& parts) {
        if (parts.module == RecomputeModule::core_attn)
            append(out, attention_core_forward(s));
        per_op = per_op || parts.module == RecomputeModule::per_op;
        names.insert(names.end(), parts.items.begin(), parts.items.end());
    });
    for (const WorkItem& item : forward)
        if (listed(names, name_of(item)))
            out.push_back(item);
        else if (const double share = per_op ? PerOp(s).share_of_item(name_of(item)) : 0; share > 0)
            out.push_back(columns_of(item, share));
    return out;
}

} // namespace trainyard
