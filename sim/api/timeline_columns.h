#pragma once

// The ops of a recorded step as columns: for tables and arrays.

#include "sim/study/outcome.h"

#include <string>
#include <vector>

namespace trainyard {

// One entry for each recorded op of the measured step, by lane, stream and start. Times are
// picoseconds from the step's begin; what began in the step before is negative.
struct TimelineColumns {
    std::vector<std::int32_t> rank;
    std::vector<std::int32_t> stage;
    std::vector<std::int32_t> stream;      // of `streams`
    std::vector<std::int32_t> name;        // of `names`
    std::vector<std::int32_t> kind;        // of `kinds`: what time is counted as once data moves
    std::vector<std::int32_t> micro_batch; // -1: of none; likewise the layer
    std::vector<std::int32_t> layer;
    std::vector<std::int64_t> issued;         // by the host
    std::vector<std::int64_t> start;          // its kernel is on the device
    std::vector<std::int64_t> transfer_start; // all members have arrived; else the start
    std::vector<std::int64_t> end;
    std::vector<std::uint64_t> bytes;       // that it moves
    std::vector<std::int32_t> last_arriver; // rank; -1: it waits for none

    std::vector<std::string> streams;
    std::vector<std::string> names;
    std::vector<std::string> kinds;
    std::int64_t step = 0; // length, ps

    std::size_t size() const { return rank.size(); }
};

// Empty columns without records.
TimelineColumns timeline_columns(const Outcome& recorded);

} // namespace trainyard
