#pragma once

// Execution traces in JSON, node by node.

#include "sim/traces/execution/execution_trace.h"
#include "sim/traces/json_stream.h"

namespace trainyard {

enum class GraphText : std::uint8_t {
    calls, // PyTorch's ExecutionTraceObserver: {"schema": "1.1.0-chakra.0.0.4", "nodes": [...]}
    graph, // {"workload_graph": [...]}
    apart  // one object a node, after each other: chakra_jsonizer's
};

// Refused with the line: what is no JSON, nodes without or with equal ids, lists beyond any op's.
Checked<ExecutionTrace> read_execution_json(JsonStream& stream, const std::string& file,
                                            GraphText form);

} // namespace trainyard
