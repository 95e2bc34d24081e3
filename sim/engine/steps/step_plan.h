#pragma once

// Who sends what to whom in a collective, step by step.
//
// A wire carries the sends of one member one after the other: step k begins when the member has
// come, step k - 1 of the wire is over and so are, on each wire that it needs, the first
// k + `ahead` steps. Data lands in buffers that never run out, so a send waits for no receiver.
//
//   ring         one wire per member to the next one, which passes on what came in the step before;
//   of
//                a folded group once round its classes, which follow one another all along the ring
//   direct       one wire per member to all others in turn, the next one first; needs nobody
//   pass         one wire per member to the next one, one step
//   from_first   a chain: each member passes on what has come, chunk by chunk
//   to_first     likewise; the last one is the first member
//   tree         two wires per edge of the group's trees: up, what has come from all children,
//   down,
//                what has come from the parent, chunk by chunk
//
// Undisturbed, step k of a wire happens in round k + lag; the rounds divide T(S) (pace.h).

#include "sim/program/binding.h"

#include <span>
#include <vector>

namespace trainyard::engine {

enum class StepShape : std::uint8_t { none, ring, direct, pass, from_first, to_first, tree };

// How a collective over that pattern goes step by step; `none`: it does not.
StepShape step_shape(CollectiveKind kind, TrafficPattern pattern);

// Steps of each wire. Requires shape != none.
std::uint32_t step_count(StepShape shape, CollectiveKind kind, std::uint32_t ranks);

struct Wire {
    std::uint32_t from = 0; // members, by their place in the group
    std::uint32_t to = 0;   // of the first step
    std::uint32_t way = 0;  // of the first step
    std::uint32_t lag = 0;
};

// Lists of numbers, one per index.
struct NumberLists {
    std::vector<std::uint32_t> numbers;
    std::vector<std::uint32_t> ends;

    std::span<const std::uint32_t> operator[](std::size_t index) const
    {
        const std::size_t first = index == 0 ? 0 : ends[index - 1];
        return std::span(numbers).subspan(first, ends[index] - first);
    }
};

struct StepPlan {
    StepShape shape = StepShape::none;
    std::uint32_t members = 0; // simulated ones
    std::uint32_t ranks = 0;
    std::uint32_t ahead = 0;
    std::uint32_t most_lag = 0;
    std::vector<Wire> wires; // of a ring: by the member they leave
    NumberLists needs;       // by wire: wires
    NumberLists feeds;       // by wire: those that need it
    NumberLists leaving;     // by member: wires
    const Ways* ways = nullptr;

    std::uint32_t receiver(const Wire& wire, std::uint32_t step) const
    {
        return shape == StepShape::direct ? (wire.to + step) % members : wire.to;
    }
    std::span<const LinkUse> links(const Wire& wire, std::uint32_t step) const
    {
        return (*ways)[shape == StepShape::direct
                           ? std::size_t{wire.from} * members + receiver(wire, step)
                           : wire.way];
    }
};

// Requires the group's ways of that shape.
StepPlan step_plan(const Group& group, StepShape shape);

// Of the shape; empty where none is known.
const Ways& ways_of(const Group& group, StepShape shape);

} // namespace trainyard::engine
