#pragma once

// How the nodes of an execution trace wait for each other.

#include "sim/traces/execution/execution_trace.h"

namespace trainyard {

// The longest chains, and how many waits there are. `works` says of each node whether it is one of
// the ops that are counted. Refused: nodes that wait for each other. Linear in nodes and waits.
Checked<GraphFacts> chains_of(const ExecutionTrace& trace, const std::vector<bool>& works);

} // namespace trainyard
