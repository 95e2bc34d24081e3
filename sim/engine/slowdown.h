#pragma once

// What makes ops slower than they are alone: the scale slots of their lane, and communication
// beside compute. Scales and device shares are in whole parts of 2^20.

#include "sim/program/binding.h"

#include <algorithm>

namespace trainyard::engine {

// The scale that a slot of the lane holds; full_share where an op names no slot.
inline std::uint32_t scale_on(const Lane& lane, ScaleSlot slot)
{
    return slot.valid() ? lane.scales[slot.value] : full_share;
}

inline Work scaled_work(const TransferCost& cost, std::uint32_t scale)
{
    return Work{cost.work.value * scale >> 20};
}

inline constexpr std::uint32_t least_share = full_share / 20; // 0.05, rounded down

// Share of a device that is left to compute while kernels hold `resident` of its SMs and move
// `traffic`, both in parts of 2^20:   1 - sum(sm_share) - sum(traffic_share x rate / ceiling).
constexpr std::uint32_t compute_share(std::uint64_t resident, std::uint64_t traffic)
{
    const std::uint64_t lost = resident + traffic;
    return lost > full_share - least_share ? least_share
                                           : full_share - static_cast<std::uint32_t>(lost);
}

// How fast compute drains in a window of that speed, both in parts of 2^20.
constexpr std::uint32_t draining_rate(std::uint32_t share, std::uint32_t speed)
{
    const std::uint64_t rate = std::uint64_t{share} * speed >> 20;
    return rate > 0 ? static_cast<std::uint32_t>(rate) : 1;
}

// What one transfer adds to `traffic` at a rate <= its ceiling, rounded down. Of a collective that
// goes step by step, what one of the `abreast` wires that leave a member adds: all of them together
// are the collective's traffic, so that it slows compute as much as it does in one piece.
constexpr std::uint32_t traffic_of(const TransferCost& cost, ByteRate rate,
                                   std::uint32_t abreast = 1)
{
    if (cost.ceiling.value() == 0)
        return 0;
    return static_cast<std::uint32_t>(static_cast<u128>(cost.traffic_share) * rate.value() /
                                      (static_cast<u128>(cost.ceiling.value()) * abreast));
}

// True if some lane is slow for a time.
inline bool has_windows(const Binding& binding)
{
    return std::any_of(binding.lanes.begin(), binding.lanes.end(),
                       [](const Lane& lane) { return !lane.windows.empty(); });
}

// True if some transfer of the table slows compute.
inline bool interferes(const CostTable& costs)
{
    return std::any_of(costs.transfers.begin(), costs.transfers.end(), [](const auto& variant) {
        return std::any_of(variant.begin(), variant.end(), [](const TransferCost& cost) {
            return cost.sm_share > 0 || cost.traffic_share > 0;
        });
    });
}

} // namespace trainyard::engine
