#pragma once

// Data whose results are known: what buffers hold before an operation that is checked, and what
// they must hold after it. Plain arithmetic, the same on host and device.

#include "calibrate/measure/backend/element_type.h"

#include <cstdint>

namespace trainyard {

enum class PatternKind : std::uint8_t {
    random,  // for timing: no zeros, no runs, so that power and compression are as in real use
    plain,   // `rank`'s own values
    summand, // what `rank` adds to a sum
    sum,     // of all ranks' summands
    signs // -1, 0 or 1: products of such matrices are whole numbers, exact however they are summed
};

// Elements `first_index` and following of a rank's buffer.
struct DataPattern {
    PatternKind kind = PatternKind::random;
    ElementType type = ElementType::float32;
    std::uint64_t elements = 0;
    std::uint64_t first_index = 0;
    int rank = 0;
    int ranks = 1;

    bool operator==(const DataPattern&) const = default;
};

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
constexpr std::uint64_t mixed_bits(std::uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

constexpr int sign_value(std::uint64_t index)
{
    return static_cast<int>(mixed_bits(index) % 3) - 1;
}

// Every `spacing`-th rank, counted from one that depends on the element, adds 1. Sums stay at or
// below 250, so that bfloat16 (exact to 256) and uint8 hold them whatever the order.
constexpr std::uint64_t summand_spacing(int ranks)
{
    const std::uint64_t needed = (static_cast<std::uint64_t>(ranks) + 249) / 250;
    return needed > 7 ? needed : 7;
}

// A whole number from 0 to 250, of signs from -1 to 1: element `index` of the buffer that `pattern`
// describes. Not for random data.
constexpr int pattern_value(const DataPattern& pattern, std::uint64_t index)
{
    const auto rank = static_cast<std::uint64_t>(pattern.rank);
    if (pattern.kind == PatternKind::signs)
        return sign_value(index);
    if (pattern.kind == PatternKind::plain)
        return static_cast<int>(mixed_bits(index * 4096 + rank) % 251);
    const auto ranks = static_cast<std::uint64_t>(pattern.ranks);
    const std::uint64_t spacing = summand_spacing(pattern.ranks);
    const std::uint64_t first = mixed_bits(index) % spacing; // the first rank that adds 1
    if (pattern.kind == PatternKind::summand)
        return rank % spacing == first ? 1 : 0;
    return static_cast<int>(first < ranks ? (ranks - 1 - first) / spacing + 1 : 0);
}

} // namespace trainyard
