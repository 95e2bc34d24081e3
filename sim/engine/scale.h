#pragma once

// What the scale slots of a lane do to durations and to work.

#include "sim/program/binding.h"

namespace trainyard::engine {

// Of 2^20; whole without a slot.
inline std::uint32_t scale_on(const Lane& lane, ScaleSlot slot)
{
    return slot.valid() ? lane.scales[slot.value] : full_share;
}

inline Work scaled_work(const TransferCost& cost, std::uint32_t scale)
{
    return Work{cost.work.value * scale >> 20};
}

} // namespace trainyard::engine
