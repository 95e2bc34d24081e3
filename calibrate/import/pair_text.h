#pragma once

// Matrices in the output of nvbandwidth and p2pBandwidthLatencyTest. Both print a title with the
// unit, a line that numbers the columns, and a row for each source:
//
//     memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)      Unidirectional P2P=Enabled Bandwidth
//     Matrix (GB/s)
//                0         1                                     D\D     0      1
//      0       N/A     26.34                                       0 2494.76 371.02

#include "calibrate/import/pair_matrix.h"

namespace trainyard {

// No matrices: the text has none. Rows that are cut make their matrix flagged.
ImportedPairs read_pair_text(std::string_view text);

// nvbandwidth --json.
bool is_nvbandwidth_json(const Json& json);
ImportedPairs read_nvbandwidth_json(const Json& json);

} // namespace trainyard
