#pragma once

// How long a point is measured, and how well.

#include "sim/base/quantity.h"

#include <cstdint>
#include <optional>

namespace trainyard {

// quick: for a look at a machine in a minute or two, not for a profile to keep.
enum class Effort : std::uint8_t { full, quick };

struct Limits {
    Seconds batch{200e-6}; // a batch lasts about this long at least: clocks and barriers show less
    int most_ops = 10000;  // of a batch

    int least_warm_up_ops = 5;
    double agreement = 0.05; // of the last three medians of the warm-up, from lowest to highest
    Seconds warm_up{0.5};    // then it ends without agreement

    int least_batches = 20;
    int most_batches = 100;
    double half_width = 0.02; // of the interval, as a share of the median: precise enough
    Seconds timed{2.0};

    int isolated = 20; // ops each behind a barrier of its own; 0: none are wanted

    bool operator==(const Limits&) const = default;
};

// For messages of `size` (0: none). full: the values above, and 1 % for sizes above 16 MiB, whose
// times repeat within 0.4 %. quick: 10 to 40 batches, 5 % (2.5 % above 16 MiB), at most 0.1 s of
// warm-up and 0.3 s of batches, 10 isolated ops: 0.4 s a point where an op takes less than 0.05 s.
//
// `trials`: so many batches, neither more nor fewer.
Limits limits_of(Effort effort, Bytes size, std::optional<int> trials = {});

// Fewer batches than this say nothing; they are taken even of ops longer than all limits.
inline constexpr int fewest_batches = 3;

} // namespace trainyard
