#include "sim/strategy/misfits.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

using enum AdapterTarget;

constexpr const char* pointer = "/training/lora/targets";

bool of_mlp(AdapterTarget target)
{
    return target == gate_proj || target == up_proj || target == down_proj || target == linear_fc1;
}

// The attention's matrices that could have one.
std::string usable_targets(const Transformer& model)
{
    std::string names;
    for (const AdapterTarget target : {q_proj, k_proj, v_proj, linear_qkv, o_proj})
        if (adapter_misfit(model, target).empty())
            names += (names.empty() ? "" : ", ") + std::string(to_name(target));
    return names;
}

} // namespace

std::string adapter_misfit(const Transformer& model, AdapterTarget target)
{
    if (of_mlp(target) && model.moe)
        return "adapters of experts are not supported";
    if (target == gate_proj && !model.gated_mlp)
        return "an MLP without a gate has no gate_proj";
    if (model.latent && target != o_proj && !of_mlp(target))
        return "adapters of latent attention's projections are not supported";
    if (!model.latent && model.value_dim() != model.head_dim &&
        (target == v_proj || target == linear_qkv))
        return "adapters of values whose heads are not as wide as the keys' are not supported";
    return {};
}

Problems lora_misfits(const Job& job)
{
    Problems problems;
    if (!job.training.lora)
        return problems;
    const auto& model = std::get<Transformer>(job.model.architecture);
    const Lora& lora = *job.training.lora;
    const auto refuse = [&](std::string message, std::string hint) {
        problems.push_back(refusal(pointer, std::move(message), std::move(hint)));
    };
    if (!model.pattern.empty() || !model.encoders.empty() || model.is_recurrent())
        problems.push_back(
            refusal("/training/lora",
                    "adapters beside layers of several kinds, encoders or recurrent "
                    "mixers are not supported",
                    "leave lora out, or take a model whose layers are all attention"));
    if (lora.targets.empty())
        refuse("no matrix has an adapter: nothing is trained", "name some, e.g. q_proj and v_proj");
    for (const AdapterTarget target : lora.targets) {
        if (std::ranges::count(lora.targets, target) > 1)
            refuse(fmt::format("{} is named twice", to_name(target)), "name each once");
        if (std::string why = adapter_misfit(model, target); !why.empty())
            refuse(std::move(why),
                   fmt::format("targets that work here: {}", usable_targets(model)));
    }
    const bool parts = lora.has(q_proj) || lora.has(k_proj) || lora.has(v_proj);
    if (parts && lora.has(linear_qkv))
        refuse("linear_qkv and q_proj, k_proj or v_proj are the same matrix",
               "name the fused matrix or its parts");
    if ((lora.has(gate_proj) || lora.has(up_proj)) && lora.has(linear_fc1))
        refuse("linear_fc1 and gate_proj or up_proj are the same matrix",
               "name the fused matrix or its parts");
    return problems;
}

} // namespace trainyard
