#pragma once

// What communication takes of one lane's device over time, as far as it is known.

#include "sim/base/exact.h"

#include <limits>
#include <vector>

namespace trainyard::engine::ahead {

using Time = std::int64_t; // picoseconds
inline constexpr Time never = std::numeric_limits<Time>::max();

// Work is in ps x 2^20 and drains at what communication leaves of the device.
class DeviceLoad {
public:
    struct Change {
        Time at;
        std::int64_t amount;
    };

    // From `at` on, `change` more of 2^20.
    void add(Time at, std::int64_t change);

    // When work that begins to drain at `begin` is done, if nothing else comes.
    Time end_of(Time begin, u128 work) const;

    // What is left at `time` of work that begins to drain at `begin`.
    u128 left_at(Time time, Time begin, u128 work) const;

    // Drops what was before `time`; nothing before it may be asked for any more.
    void forget(Time time);

    // Whether nothing is taken from `begin` until `end`.
    bool idle(Time begin, Time end) const;

private:
    // Calls `visit` with the share that is left and when it begins and ends, piece by piece from
    // `begin` on, until it returns false.
    template <class Visit>
    void for_each_piece(Time begin, const Visit& visit) const;

    std::vector<Change> changes_; // by time
    std::size_t first_ = 0;       // those before it are in `base_`
    std::int64_t base_ = 0;
    Time forgotten_ = 0;
};

} // namespace trainyard::engine::ahead
