#pragma once

// Collectives whose links no other transfer can ever be on, and which always carry their ceiling.
//
// Such a collective moves at its ceiling from the end of its latency on, whatever happens elsewhere
// (as sums inside an NVLink domain do): nothing has to be shared, and what its links carried is the
// same for all of them.

#include "sim/engine/state.h"

#include <array>
#include <functional>

namespace trainyard::engine {

inline constexpr std::size_t traffic_patterns = 5;

class OwnLinks {
public:
    explicit OwnLinks(const RunState& run);

    bool has(GroupId group, TrafficPattern pattern) const
    {
        return ((own_[group.value] >> static_cast<unsigned>(pattern)) & 1U) != 0;
    }

    // A collective moved that much work in the measured step. Requires has(group, pattern).
    void count(GroupId group, TrafficPattern pattern, ByteRate rate, u128 moved);

    // What was moved over each such group's links, and the highest rate.
    struct Moved {
        u128 work = 0;
        ByteRate rate{};
    };
    void for_each(const std::function<void(std::span<const LinkUse>, const Moved&)>& visit) const;

private:
    const RunState& run_;
    std::vector<std::uint8_t> own_;                          // by GroupId: bits by pattern
    std::vector<std::array<Moved, traffic_patterns>> moved_; // by GroupId
};

} // namespace trainyard::engine
