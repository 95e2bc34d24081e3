#pragma once

// How ZeRO-1 and ZeRO-2 exchange gradients and parameters.

#include "sim/base/field_names.h"

#include <cstdint>
#include <optional>

namespace trainyard {

enum class ShardingStyle : std::uint8_t {
    megatron, // Megatron-Core's distributed optimizer
    deepspeed // DeepSpeed's ZeRO-1 and ZeRO-2
};

struct ShardingOptions {
    std::optional<ShardingStyle> style; // else megatron for ZeRO-1, deepspeed for ZeRO-2
    // Parameters gathered beside the next forward pass; else before the step ends. Absent: as
    // Overlap::dp; DeepSpeed never does.
    std::optional<bool> overlap_param_gather;
    // DeepSpeed's defaults (zero_optimization.reduce_bucket_size, allgather_bucket_size).
    std::int64_t reduce_bucket = 500'000'000; // gradients reduced together
    std::int64_t gather_bucket = 500'000'000; // parameters gathered together
    bool reduce_scatter = true;               // else every rank gets all sums and keeps its shard's

    bool operator==(const ShardingOptions&) const = default;
};

template <>
std::vector<EnumName<ShardingStyle>> enum_names<ShardingStyle>();
template <>
const FieldTable<ShardingOptions>& fields_of<ShardingOptions>();

} // namespace trainyard
