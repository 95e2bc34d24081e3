#pragma once

// Exact integer work: a transfer's work is bytes x picoseconds-per-second, so that work / rate is a
// whole number of picoseconds and two engines that agree on the rates agree to the last bit.

#include "sim/base/quantity.h"

#include <cstdint>

namespace trainyard {

__extension__ typedef unsigned __int128 u128;

inline constexpr std::uint64_t picoseconds_per_second = 1'000'000'000'000ULL;

// Whole bytes per second (a granted rate). Never negative; 0 is a stall.
using ByteRate = Quantity<struct WholeBytePerSecondTag, std::uint64_t>;

// What remains to be moved, in byte-picoseconds-per-second: `rate x time in ps`.
struct Work {
    u128 value = 0;

    friend constexpr bool operator==(const Work&, const Work&) = default;
};

// The work done at `rate` during `time`. Requires time >= 0.
constexpr Work work_done(ByteRate rate, SimTime time)
{
    return Work{static_cast<u128>(rate.value()) * static_cast<u128>(time.value())};
}

// A 128-bit count of picoseconds as a span, at most `longest_sim_time`.
constexpr SimTime span_of(u128 picoseconds)
{
    const auto longest = static_cast<u128>(longest_sim_time.value());
    return picoseconds < longest ? SimTime(static_cast<std::int64_t>(picoseconds))
                                 : longest_sim_time;
}

// Time to finish `work` at `rate`, rounded up to a picosecond. Requires rate > 0.
constexpr SimTime time_to_finish(Work work, ByteRate rate)
{
    const u128 divisor = rate.value();
    return span_of((work.value + divisor - 1) / divisor);
}

// `work` less what was done at `rate` during `time`; never below zero (the last picosecond is
// rounded up).
constexpr Work remaining_after(Work work, ByteRate rate, SimTime time)
{
    const u128 done = work_done(rate, time).value;
    return Work{done >= work.value ? 0 : work.value - done};
}

// Shares of a device's compute throughput are whole parts of 2^20.
inline constexpr std::uint32_t full_share = 1U << 20;

} // namespace trainyard
