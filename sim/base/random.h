#pragma once

// Random numbers that depend on a seed and a key only, never on the order of the calls: the noise
// of rank 17 in step 3 is the same on any number of threads.

#include <cstdint>

namespace trainyard {

// SplitMix64 finaliser (Steele, Lea, Flood 2014): a bijection of 64-bit words that passes BigCrush
// as a counter generator.
constexpr std::uint64_t mix_bits(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t hash_key(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0,
                                 std::uint64_t c = 0)
{
    return mix_bits(mix_bits(mix_bits(mix_bits(seed) ^ a) ^ b) ^ c);
}

// Uniform in [0, 1) from 53 bits of `word`.
constexpr double to_unit_interval(std::uint64_t word)
{
    return static_cast<double>(word >> 11) * 0x1.0p-53;
}

// A sequence for tests and generators.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t bits() { return mix_bits(state_++); }

    // Uniform in [0, 1).
    constexpr double uniform() { return to_unit_interval(bits()); }

    // Uniform in [low, high]. Requires low <= high and a span below 2^63.
    constexpr std::int64_t integer(std::int64_t low, std::int64_t high)
    {
        return low +
               static_cast<std::int64_t>(bits() % (static_cast<std::uint64_t>(high - low) + 1));
    }

    // Standard normal (Box-Muller).
    double normal();

private:
    std::uint64_t state_;
};

} // namespace trainyard
