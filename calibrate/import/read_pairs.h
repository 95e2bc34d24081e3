#pragma once

// Pair matrices from a file of any kind that holds some.

#include "calibrate/import/pair_matrix.h"

namespace trainyard {

// Text or JSON of nvbandwidth, text of p2pBandwidthLatencyTest, or what was imported before.
Checked<ImportedPairs> read_pairs(std::string_view text, const std::string& file);

} // namespace trainyard
