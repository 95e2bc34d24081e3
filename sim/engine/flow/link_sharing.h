#pragma once

// Who shares links at which rate: flows come and go, and once per instant all rates are settled
// max-min fairly, in whole bytes per second (sharing.h has the definition).
//
// Two of them: FullSharing solves everything anew, RippleSharing follows what changed. They grant
// the same rates to the last byte.

#include "sim/program/binding.h"

#include <span>

namespace trainyard::engine {

struct RateChange {
    std::uint32_t owner = 0;
    ByteRate rate{};

    bool operator==(const RateChange&) const = default;
};

class LinkSharing {
public:
    LinkSharing() = default;
    LinkSharing(const LinkSharing&) = delete;
    LinkSharing& operator=(const LinkSharing&) = delete;
    virtual ~LinkSharing() = default;

    // A flow of its owner that wants `ceiling` > 0; its number. `links` must outlive it.
    virtual std::uint32_t add(std::uint32_t owner, ByteRate ceiling,
                              std::span<const LinkUse> links) = 0;
    virtual void remove(std::uint32_t flow) = 0;

    // The flows whose rate is another than at the last settlement; new ones had 0. Valid until the
    // next call.
    virtual std::span<const RateChange> settle() = 0;

    // From the next settlement on, which is due now even if nothing changes, notes the highest
    // loads.
    virtual void watch_loads() = 0;
    // Highest load / capacity seen after a settlement; 0 for a link without capacity.
    virtual double busiest_share(LinkId link) const = 0;
};

// Load in bytes per second x 2^16.
inline double load_share(u128 load, ByteRate capacity)
{
    return capacity.value() == 0
               ? 0
               : static_cast<double>(load) / (static_cast<double>(capacity.value()) * 65536.0);
}

} // namespace trainyard::engine
