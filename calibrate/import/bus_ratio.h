#pragma once

// What the printed rates of a sweep say about its collective and ranks.

#include "calibrate/import/sweep.h"

namespace trainyard {

struct Range {
    double low = 0;
    double high = 0;

    bool operator==(const Range&) const = default;
};

// Bus bandwidth over algorithm bandwidth, as narrow as the digits printed allow: every row's own
// range, cut with the others. `rows_disagree`: they have no number in common.
struct BusRatio {
    Range range;
    int rows = 0; // that say anything: rates of more than a digit or two
    bool rows_disagree = false;
};
BusRatio bus_ratio(const std::vector<SweepRow>& rows);

// The rank counts of a collective whose bus factor lies within `ratio`; empty: none. Collectives
// whose factor is 1 fit any: {2, most_ranks}.
inline constexpr int most_ranks = 1'000'000;
std::optional<std::pair<int, int>> ranks_within(CollectiveKind collective, Range ratio);

// Bytes over count x element size, the same for all rows that have bytes: 1, or the ranks of a
// collective that counts one rank's share. Empty: unknown; `mixed`: rows differ or do not divide.
struct Share {
    std::optional<std::int64_t> value;
    bool mixed = false;
};
Share share_of(const std::vector<SweepRow>& rows, int bytes_per_element);

// Half a unit of the last digit printed of a number given with at least `decimals` decimals.
double rounding(double printed, int decimals);

// Whether size / time gives the printed algorithm bandwidth, within rounding.
bool rate_agrees(Bytes size, const SweepTiming& timing);

} // namespace trainyard
