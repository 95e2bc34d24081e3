#pragma once

// Equal-cost multi-path: which of several equal next links a message takes.

#include "sim/base/ids.h"
#include "sim/base/random.h"

#include <cstddef>

namespace trainyard {

// Decides at link number `hop` of a path among `choices` equal ones; asked with choices >= 1 and in
// the order of the path.
class PathChoice {
public:
    virtual ~PathChoice() = default;
    virtual std::size_t choose(std::size_t hop, std::size_t choices) = 0;
};

// As a switch's hash of the packet header decides: fixed by the ends, the flow number (a queue pair
// or port) and the fabric's seed; independent from hop to hop and uniform over flows.
class FlowHash final : public PathChoice {
public:
    FlowHash(std::uint64_t seed, DeviceId from, DeviceId to, std::uint64_t flow)
        : key_(hash_key(seed, (std::uint64_t{from.value} << 32) | to.value, flow))
    {}

    std::size_t choose(std::size_t hop, std::size_t choices) override
    {
        return choices <= 1 ? 0 : static_cast<std::size_t>(hash_key(key_, hop) % choices);
    }

private:
    std::uint64_t key_;
};

} // namespace trainyard
