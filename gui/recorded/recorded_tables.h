#pragma once

// A recorded step in tables: one unit a column, in its heading, and plain numbers.

#include "gui/widgets/panel.h"
#include "sim/study/traced/side_by_side.h"

namespace trainyard::gui {

// Kinds of time, kernels and transfers, then the layers of each stage: recorded, simulated, and how
// many times as long the simulated is.
TableData differences_table(const SideBySide& sides);

// A row for each rank: its step by kinds of time that occur. Of an execution trace what it runs.
TableData ranks_table(const RunSummary& run);
TableData transfers_table(const RunSummary& run);
TableData kernels_table(const RunSummary& run);
// Who waits for whom; empty where nothing is known of that.
TableData waits_table(const RunSummary& run);

} // namespace trainyard::gui
