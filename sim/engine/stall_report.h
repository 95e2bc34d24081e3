#pragma once

// Why a run cannot go on, in ranks and ops.

#include "sim/base/diagnostic.h"
#include "sim/engine/transfer_table.h"

#include <span>

namespace trainyard::engine {

// `newcomer` (a stream) joins a transfer that means something else to those before it.
Diagnostic mismatch(const RunState& run, const TransferTable& table, std::uint32_t transfer,
                    std::uint32_t newcomer);

// Nothing will happen any more, though some lanes have not finished: each transfer that somebody
// waits in, who is missing and what the missing do instead. `stalled`: transfers at rate 0.
Problems stall_report(const RunState& run, const TransferTable& table,
                      std::span<const std::uint32_t> stalled);

} // namespace trainyard::engine
