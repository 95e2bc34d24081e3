#pragma once

// A sweep as fits take it: one time per size, what is wrong with it said aloud.

#include "calibrate/import/sweep.h"

namespace trainyard {

struct TimedSize {
    Bytes size;
    Seconds time;

    bool operator==(const TimedSize&) const = default;
};

enum class Buffers : std::uint8_t { out_of_place, in_place };

// A time that another stands in for.
struct ReplacedSize {
    Bytes size;
    Seconds measured;
    Seconds taken;

    bool operator==(const ReplacedSize&) const = default;
};

struct CleanSweep {
    std::vector<TimedSize> points; // sizes grow
    std::vector<std::string> flags;
    std::vector<ReplacedSize> replaced; // first-use costs, which are flagged too

    bool operator==(const CleanSweep&) const = default;
};

// The times of `sweep` with those buffers (the other ones, with a flag, where a sweep has only
// those).
//
// Rows without bytes or without a time are left out; sizes that occur several times give their
// median. An out-of-place time above 1.4 x both neighbours while the in-place time of the same size
// is not is a first-use cost, not the collective's: the in-place time replaces it, with a flag.
CleanSweep clean(const Sweep& sweep, Buffers buffers = Buffers::out_of_place);

} // namespace trainyard
