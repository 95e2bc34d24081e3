#pragma once

// Random factors on the durations of kernels: a pure function of seed, rank, step and place, in
// integers, so that all engines draw the same numbers in any order and on any number of threads.
//
// The distribution is a table of quantiles. Cells get finer towards both ends (16 per halving of
// the tail's probability, 32 halvings), so that the slowest of 10^9 kernels is as slow as it should
// be; inside a cell the quantile is interpolated.

#include "sim/base/exact.h"
#include "sim/base/ids.h"
#include "sim/base/random.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace trainyard {

using JitterId = Id<struct JitterTag, std::uint16_t>;

// Edges of the cells of one tail, from the median outwards: the tail beyond edge k has probability
// 2^-(e + 2) x (2 - j/16) with e = k / 16, j = k % 16.
inline constexpr std::size_t jitter_edges = 32 * 16 + 1;

inline constexpr std::uint32_t most_jitter = 1U << 30; // factors are below: x 1024

struct Jitter {
    std::uint64_t seed = 0;
    // Of kernels, in parts of 2^20: how many are disturbed; the others take factor 1.
    std::uint32_t chance = full_share;
    // Factors in parts of 2^20, <= most_jitter: at the edges of the lower tail, then of the upper.
    // 2 x jitter_edges.
    std::vector<std::uint32_t> factors{};

    bool operator==(const Jitter&) const = default;
};

// What all words of a rank have in common.
constexpr std::uint64_t jitter_key(std::uint64_t seed, RankId rank)
{
    return mix_bits(mix_bits(seed) ^ rank.value);
}

// The random word of one op: `place` counts the ops of a step in issue order.
constexpr std::uint64_t jitter_word(std::uint64_t key, std::uint32_t step, std::uint32_t place)
{
    return mix_bits(mix_bits(key ^ (std::uint64_t{step} << 32 | place)));
}

// The quantile at `word` / 2^64, of 2^20.
inline std::uint32_t jitter_quantile(const Jitter& jitter, std::uint64_t word)
{
    const bool upper = (word >> 63) != 0;
    const std::uint64_t tail = upper ? ~word : word; // below 2^63
    const std::uint32_t* const edges = jitter.factors.data() + (upper ? jitter_edges : 0);
    const auto octave = static_cast<std::size_t>(std::countl_zero(tail)) - 1;
    if ((octave + 1) * 16 >= jitter_edges)
        return edges[jitter_edges - 1];
    const std::uint64_t mantissa = tail << (octave + 2); // without its leading one
    const std::size_t outer = octave * 16 + 16 - static_cast<std::size_t>(mantissa >> 60);
    const auto part = static_cast<std::int64_t>((mantissa >> 28) & 0xffffffffU);
    const std::int64_t from = edges[outer];
    const std::int64_t to = edges[outer - 1];
    return static_cast<std::uint32_t>(from + ((to - from) * part >> 32));
}

// The factor of one op's duration, of 2^20. `key`: of the jitter's seed and the rank.
inline std::uint32_t jitter_factor(const Jitter& jitter, std::uint64_t key, std::uint32_t step,
                                   std::uint32_t place)
{
    const std::uint64_t word = jitter_word(key, step, place);
    if (jitter.chance < full_share && (mix_bits(word) >> 44) >= jitter.chance)
        return full_share;
    return jitter_quantile(jitter, word);
}

// `duration` times the factor, rounded down to a picosecond.
constexpr SimTime jittered(SimTime duration, std::uint32_t factor)
{
    return span_of(static_cast<u128>(duration.value()) * factor >> 20);
}

} // namespace trainyard
