#include "sim/workload/adapters.h"

#include "sim/base/fields.h"

#include <algorithm>

namespace trainyard {

bool Lora::has(AdapterTarget target) const
{
    return std::ranges::find(targets, target) != targets.end();
}

template <>
std::vector<EnumName<AdapterTarget>> enum_names<AdapterTarget>()
{
    using enum AdapterTarget;
    return {{q_proj, "q_proj"},       {k_proj, "k_proj"},         {v_proj, "v_proj"},
            {o_proj, "o_proj"},       {gate_proj, "gate_proj"},   {up_proj, "up_proj"},
            {down_proj, "down_proj"}, {linear_qkv, "linear_qkv"}, {linear_fc1, "linear_fc1"}};
}

template <>
const FieldTable<Lora>& fields_of<Lora>()
{
    static const auto table =
        FieldTable<Lora>("lora", "Low-rank adapters beside frozen matrices.")
            .field("rank", &Lora::rank,
                   {.help = "inner size of an adapter", .min = 1, .max = 65536, .required = true})
            .field("targets", &Lora::targets,
                   {.help = "matrices that get an adapter; linear_qkv and linear_fc1 are "
                            "Megatron's fused ones, with one adapter for all columns",
                    .required = true});
    return table;
}

} // namespace trainyard
