#pragma once

// Low-rank adapters (LoRA, Hu 2021): the matrices of a model stay as they are; beside some of them
// runs y += (x A) B with A [inputs x rank] and B [rank x outputs], which alone are trained.

#include "sim/base/field_names.h"

#include <cstdint>
#include <vector>

namespace trainyard {

// Matrices as PEFT names them; linear_qkv and linear_fc1 are Megatron's fused ones, with one
// adapter for all their columns.
enum class AdapterTarget : std::uint8_t {
    q_proj,
    k_proj,
    v_proj,
    o_proj,
    gate_proj,
    up_proj,
    down_proj,
    linear_qkv,
    linear_fc1
};

struct Lora {
    int rank = 8;
    std::vector<AdapterTarget> targets;

    bool has(AdapterTarget target) const;
    bool operator==(const Lora&) const = default;
};

template <>
std::vector<EnumName<AdapterTarget>> enum_names<AdapterTarget>();
template <>
const FieldTable<Lora>& fields_of<Lora>();

} // namespace trainyard
