#pragma once

// Why a run cannot go on, in ranks and ops.

#include "sim/engine/standstill.h"
#include "sim/engine/transfer_table.h"

namespace trainyard::engine {

// `newcomer` (a stream) joins a transfer that means something else to those before it.
Diagnostic mismatch(const RunState& run, const TransferTable& table, std::uint32_t transfer,
                    std::uint32_t newcomer);

// Who stopped; then each wait, root causes first: who is missing and what the missing do instead.
Problems stall_report(const Program& program, const Binding& binding, const Standstill& stop);

} // namespace trainyard::engine
