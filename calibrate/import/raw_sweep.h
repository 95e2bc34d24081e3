#pragma once

// A sweep as its file words it, before its collective, ranks and nodes are settled.

#include "calibrate/import/nccl_context.h"
#include "calibrate/import/notes.h"

namespace trainyard {

// What the user knows and the file may not say.
struct SweepHints {
    std::optional<CollectiveKind> collective;
    std::optional<int> ranks;
    std::optional<int> nodes;
};

struct RawSweep {
    std::string where; // "line 12": for messages
    std::vector<SweepRow> rows;
    std::string data_type;
    std::string reduction;
    int root = -1;
    bool has_root_column = true;
    bool host_time = false;
    std::optional<double> average_bus_bandwidth; // bytes/s, as printed
    std::optional<std::int64_t> out_of_bounds;
    int lost_rows = 0;  // cut or no numbers
    bool ended = false; // its closing lines are there
    NcclContext context;
};

// Sweeps of one file and what was said of them. Those that were refused are in `notes.flagged`.
struct ImportedSweeps {
    std::vector<Sweep> sweeps;
    ImportNotes notes;

    bool operator==(const ImportedSweeps&) const = default;
};

} // namespace trainyard
