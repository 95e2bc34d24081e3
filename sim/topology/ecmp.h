#pragma once

// Equal-cost multi-path: which of `choices` equal next links a flow takes, as a switch's hash of
// the packet header would decide it.

#include "sim/base/ids.h"
#include "sim/base/random.h"

namespace trainyard {

// One stream of packets: fixed ends and a flow number (a queue pair or port), hashed with the
// fabric's seed.
class FlowHash {
public:
    constexpr FlowHash(std::uint64_t seed, DeviceId from, DeviceId to, std::uint64_t flow)
        : key_(hash_key(seed, (std::uint64_t{from.value} << 32) | to.value, flow))
    {}

    // The choice at link number `hop` of the path: independent from hop to hop, uniform over flows.
    constexpr std::size_t choose(std::size_t hop, std::size_t choices) const
    {
        return choices <= 1 ? 0 : static_cast<std::size_t>(hash_key(key_, hop) % choices);
    }

private:
    std::uint64_t key_;
};

} // namespace trainyard
