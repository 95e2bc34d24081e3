#pragma once

// Options of distributed data parallel, as PyTorch's DistributedDataParallel has them.

#include "sim/base/field_names.h"

#include <cstdint>
#include <optional>

namespace trainyard {

// What a communication hook does to gradients on their way.
enum class GradientCompression : std::uint8_t { none, fp16, bf16 };

struct DdpOptions {
    std::optional<bool> gradient_as_bucket_view; // else the framework's habit
    bool find_unused_parameters = false;         // walk the graph after every forward
    bool static_graph = false;                   // the first step's walk serves all steps
    bool no_sync = true; // accumulate without exchange; else all-reduce after every micro-batch
    GradientCompression compression = GradientCompression::none;

    bool operator==(const DdpOptions&) const = default;
};

template <>
std::vector<EnumName<GradientCompression>> enum_names<GradientCompression>();
template <>
const FieldTable<DdpOptions>& fields_of<DdpOptions>();

} // namespace trainyard
