#pragma once

// The members and attributes of nodes that are read, in all forms of execution traces: PyTorch's
// JSON (1.0.1 to 1.1.1), mlcommons/chakra's protobuf and its two JSON forms.

#include <cstdint>
#include <string_view>

namespace trainyard {

enum class NodeField : std::uint8_t {
    other,
    // of a node
    id,
    name,
    parent,
    waits,
    type,
    duration,
    inputs,
    outputs,
    attributes,
    // within inputs and outputs, or beside them
    values,
    shapes,
    types,
    in_shapes,
    in_types,
    out_shapes,
    out_types,
    // attributes, in some forms members
    schema,
    backend,
    collective,
    dtype,
    in_elements,
    out_elements,
    group,
    purpose,
    group_size,
    comm_type,
    comm_size,
    comm_source,
    comm_target,
    on_host,
    operations,
    tensor_size,
    phase
};

NodeField node_field(std::string_view key);

} // namespace trainyard
