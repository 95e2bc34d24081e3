#include "sim/traces/execution/node_draft.h"

#include "sim/base/words.h"

namespace trainyard {
namespace {

// As protobuf's JSON spells node types and collectives.
constexpr std::array<std::pair<std::string_view, ChakraNodeType>, 8> types_by_name{{
    {"INVALID_NODE", ChakraNodeType::invalid},
    {"METADATA_NODE", ChakraNodeType::metadata},
    {"MEM_LOAD_NODE", ChakraNodeType::load},
    {"MEM_STORE_NODE", ChakraNodeType::store},
    {"COMP_NODE", ChakraNodeType::compute},
    {"COMM_SEND_NODE", ChakraNodeType::send},
    {"COMM_RECV_NODE", ChakraNodeType::receive},
    {"COMM_COLL_NODE", ChakraNodeType::collective},
}};

} // namespace

void NodeDraft::number(NodeField field, std::int64_t value)
{
    if (value >= 0)
        count(field, static_cast<std::uint64_t>(value));
}

void NodeDraft::count(NodeField field, std::uint64_t value)
{
    switch (field) {
    case NodeField::id:
        id = value;
        break;
    case NodeField::parent:
        parent = parent.value_or(value); // the first of several
        break;
    case NodeField::waits:
        waits.push_back(value);
        break;
    case NodeField::type: // later versions' nodes of storage and data do no work of a device
        type = value <= static_cast<std::uint64_t>(ChakraNodeType::collective)
                   ? static_cast<ChakraNodeType>(value)
                   : ChakraNodeType::metadata;
        break;
    case NodeField::duration:
        microseconds = value;
        break;
    case NodeField::in_elements:
        in_elements = value;
        break;
    case NodeField::out_elements:
        out_elements = value;
        break;
    case NodeField::group_size:
        group_size = value;
        break;
    case NodeField::comm_type:
        comm_type = value;
        break;
    case NodeField::comm_size:
        comm_size = value;
        break;
    case NodeField::comm_source:
        comm_source = value;
        break;
    case NodeField::comm_target:
        comm_target = value;
        break;
    case NodeField::on_host:
        on_host = value != 0;
        break;
    case NodeField::operations:
        operations = static_cast<double>(value);
        break;
    case NodeField::tensor_size:
        tensor_size = value;
        break;
    case NodeField::group: // a number in some generators
        group = std::to_string(value);
        break;
    default:
        break;
    }
}

void NodeDraft::text(NodeField field, std::string_view value)
{
    switch (field) {
    case NodeField::name:
        name = value;
        break;
    case NodeField::schema:
        schema = value;
        break;
    case NodeField::backend:
        backend = value;
        break;
    case NodeField::collective:
        collective = value;
        break;
    case NodeField::dtype:
        dtype = value;
        break;
    case NodeField::group:
        group = value;
        break;
    case NodeField::purpose:
        purpose = value;
        break;
    case NodeField::phase:
        phase = value;
        break;
    case NodeField::type:
        for (const auto& [known, of] : types_by_name)
            if (known == value)
                type = of;
        break;
    default:
        if (const auto whole = to_number<std::int64_t>(value))
            number(field, *whole);
        break;
    }
}

std::string* NodeDraft::list(NodeField field, NodeField part)
{
    const bool out = field == NodeField::outputs;
    switch (field) {
    case NodeField::inputs:
    case NodeField::outputs:
        if (part == NodeField::shapes)
            return out ? &out_shapes : &in_shapes;
        if (part == NodeField::types)
            return out ? &out_types : &in_types;
        return part == NodeField::values ? (out ? &out_values : &in_values) : nullptr;
    case NodeField::in_shapes:
        return &in_shapes;
    case NodeField::in_types:
        return &in_types;
    case NodeField::out_shapes:
        return &out_shapes;
    case NodeField::out_types:
        return &out_types;
    default:
        return nullptr;
    }
}

} // namespace trainyard
