#pragma once

// One node of an execution trace while its members come in.

#include "sim/traces/execution/node_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Of et_def.proto.
enum class ChakraNodeType : std::uint8_t {
    invalid,
    metadata,
    load,
    store,
    compute,
    send,
    receive,
    collective
};

struct NodeDraft {
    std::optional<std::uint64_t> id;
    std::optional<std::uint64_t> parent;
    std::vector<std::uint64_t> waits;
    std::optional<ChakraNodeType> type;
    std::optional<std::uint64_t> microseconds;
    std::optional<std::uint64_t> comm_type;
    std::optional<std::uint64_t> comm_size;
    std::optional<std::uint64_t> comm_source;
    std::optional<std::uint64_t> comm_target;
    std::optional<std::uint64_t> in_elements;
    std::optional<std::uint64_t> out_elements;
    std::uint64_t group_size = 0;
    double operations = 0;
    std::uint64_t tensor_size = 0;
    bool on_host = false;
    std::string name;
    std::string schema;
    std::string backend;
    std::string collective;
    std::string dtype;
    std::string group;
    std::string purpose;
    std::string phase;
    std::string in_values; // lists as text, with texts in quotes
    std::string in_shapes;
    std::string in_types;
    std::string out_values;
    std::string out_shapes;
    std::string out_types;

    // A number of the node; what is below zero is none.
    void number(NodeField field, std::int64_t value);
    void count(NodeField field, std::uint64_t value);
    // A text; where a number is due, its digits.
    void text(NodeField field, std::string_view value);

    // Where the text of a list goes: null for lists that are not kept. `field` is inputs, outputs
    // or a list beside them; `part` a member of inputs and outputs.
    std::string* list(NodeField field, NodeField part);
};

} // namespace trainyard
