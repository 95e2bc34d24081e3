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
    virtual ByteRate rate(std::uint32_t flow) const = 0;

    // The link carries that much from now on; whoever keeps it is disturbed.
    virtual void set_capacity(LinkId link, ByteRate capacity) = 0;

    // Keeps links for one owner alone, each of which the links name once, if nobody is on them or
    // keeps them; else changes nothing. A flow that is added over a link kept makes its owner
    // disturbed.
    virtual bool keep(std::uint32_t, std::span<const LinkUse>) { return false; }
    virtual void give_up(std::uint32_t, std::span<const LinkUse>) {}
    // Those disturbed since the last call. Valid until a flow is added.
    virtual std::vector<std::uint32_t> take_disturbed() { return {}; }
    // Whether no flow but that one is on the links (`none`: none), and nobody keeps them.
    virtual bool alone(std::uint32_t, std::span<const LinkUse>) const { return false; }
    // What one flow alone gets of them.
    virtual ByteRate rate_alone(ByteRate ceiling, std::span<const LinkUse>) const
    {
        return ceiling;
    }
    // Someone who kept the links moved data over them at that rate.
    virtual void note_kept(ByteRate, std::span<const LinkUse>) {}

    // From the next settlement on, which is due now even if nothing changes, notes the highest
    // loads.
    virtual void watch_loads() = 0;
    // The rates of the last settlement will last.
    virtual void note_loads() = 0;
    // Highest load noted / capacity at the start; 0 for a link without capacity.
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
