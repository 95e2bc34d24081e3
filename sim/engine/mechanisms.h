#pragma once

// What makes the engines fast and changes no result. The reference engine has none of it; a
// benchmark leaves one out at a time to see what it is worth (tests/bench/ablation.py).

#include "sim/base/field_names.h"

#include <cstdint>
#include <vector>

namespace trainyard {

enum class Mechanism : std::uint8_t {
    ahead,       // lanes run ahead of the clock (ahead/)
    passages,    // there: what goes alike every time is leapt over
    seams,       // there: repetitions of a steady state that go alike are left out
    replay,      // all lanes of a kind at once, in an order known beforehand (replay/)
    stretches,   // there: what only adds constants is leapt over
    slices,      // there: one slice of the lanes after the other
    vector_code, // there: loops for AVX2 and AVX-512
    ripple,      // rates that follow what changed; else each is solved anew
    sweeps,      // of a ring alone on its links all sends at once; else each by itself (steps/)
    late_steps   // rings go step by step once somebody slows them; else from the start on
};

template <>
std::vector<EnumName<Mechanism>> enum_names<Mechanism>();

class Mechanisms {
public:
    static constexpr Mechanisms all() { return Mechanisms(~0U); }
    static constexpr Mechanisms none() { return Mechanisms(0); }

    constexpr bool has(Mechanism one) const { return (bits_ & bit(one)) != 0; }
    constexpr Mechanisms without(Mechanism one) const { return Mechanisms(bits_ & ~bit(one)); }

private:
    explicit constexpr Mechanisms(std::uint32_t bits) : bits_(bits) {}
    static constexpr std::uint32_t bit(Mechanism one) { return 1U << static_cast<unsigned>(one); }

    std::uint32_t bits_;
};

} // namespace trainyard
