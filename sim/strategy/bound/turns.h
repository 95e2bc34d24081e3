#pragma once

// How soon a rank is through with layers whose forward pass runs beside the backward pass of
// another micro-batch, piece by piece: both chains share the compute stream and the exchanges
// between experts, so neither the kernels nor the exchanges alone say what a layer takes.

#include "sim/base/quantity.h"

#include <array>
#include <cstdint>

namespace trainyard {

// What the next layer waits for.
enum class TurnState : std::uint8_t {
    compute,   // the compute stream
    exchanges, // the stream of exchanges between experts
    main,      // communication that ends the backward pass of a layer
    beside     // likewise, forward
};
inline constexpr std::size_t turn_states = 4;

// The longest chains from each state before to each state after: a matrix of the max-plus algebra.
struct TurnChains {
    std::array<std::array<Seconds, turn_states>, turn_states> from{}; // [before][after]

    // Of nothing: every state as it was.
    static TurnChains none();
    // So many times one after the other.
    TurnChains repeated(std::int64_t times) const;

    Seconds over(TurnState state) const // from it to itself
    {
        return from[static_cast<std::size_t>(state)][static_cast<std::size_t>(state)];
    }

    bool operator==(const TurnChains&) const = default;
};

// One after the other.
TurnChains operator*(const TurnChains& first, const TurnChains& second);

} // namespace trainyard
