#pragma once

// Execution traces in mlcommons/chakra's protobuf (schema/protobuf/et_def.proto): what they are of,
// then node after node, each message with its size before it.

#include "sim/traces/execution/execution_trace.h"
#include "sim/traces/json_stream.h"

namespace trainyard {

// Whether a file that begins like this may be such a trace.
bool begins_as_execution_protobuf(std::string_view begun);

// Refused with the byte: what is cut, no message, no node; nodes without or with equal ids.
Checked<ExecutionTrace> read_execution_protobuf(JsonStream& stream, const std::string& file);

} // namespace trainyard
