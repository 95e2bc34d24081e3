#pragma once

// How many ranks took part in a sweep, and on how many nodes.

#include "calibrate/import/bus_ratio.h"
#include "calibrate/import/raw_sweep.h"

#include <tl/expected.hpp>

namespace trainyard {

// What is known before the ranks are.
struct RankEvidence {
    const RawSweep& raw;
    const SweepHints& hints;
    const std::string& file;
    CollectiveKind collective;
    const Share& share;
    const BusRatio& ratio;
};

// The ranks, or why they cannot be told. What the numbers leave open is assumed and noted.
tl::expected<int, std::string> settle_ranks(const RankEvidence& evidence, ImportNotes& notes);

int settle_nodes(const RankEvidence& evidence, int ranks, ImportNotes& notes);

// A run of one rank: its bus bandwidth is zero, or only one device is listed.
bool is_single_rank(const RawSweep& raw, const SweepHints& hints, const BusRatio& ratio);

// Ranks that the list of devices speaks of; a list cut in the middle counts to its last rank.
// 0: there is no list.
int listed_ranks(const NcclContext& context);

// "h100_2x8_allreduce": 2 and 8. Only pairs whose product is `ranks`.
std::optional<std::pair<int, int>> nodes_by_ranks_in_name(const std::string& file, int ranks);

} // namespace trainyard
