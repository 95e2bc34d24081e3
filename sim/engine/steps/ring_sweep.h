#pragma once

// All sends of a ring whose rates nobody can change, by recurrence over its members:
//
//   end(i, k) = max(end(i, k-1), end(i-1, k-1)) + latency(k) + work(k) / rate(i)
//
// one row per step, no queue. It begins anywhere in the life of the ring; where the ring is at any
// later time follows from running the same again up to then.

#include "sim/engine/steps/pace.h"

#include <deque>
#include <span>
#include <vector>

namespace trainyard::engine {

// What a wire of a ring is doing at some time.
struct SweepWire {
    std::uint32_t done = 0; // steps
    bool sends = false;     // its next step has begun:
    SimTime moves_from{};   // `left` of its work drains from then on
    u128 left = 0;
    SimTime free{}; // the next step begins no earlier: when the member comes

    bool operator==(const SweepWire&) const = default;
};

class RingSweep {
public:
    // Wire i passes on what comes over wire i - 1. Requires rates > 0.
    void begin(const Pace& pace, std::uint32_t steps, std::span<const SweepWire> wires,
               std::span<const ByteRate> rates);

    // The member of a wire comes; before, it was to come at the end of time.
    void come(std::uint32_t wire, SimTime now);

    // When each wire ends its last step. Requires all members to have come.
    // Complexity: steps x wires, or steps where all wires are alike.
    std::span<const SimTime> ends();

    // The wires as they stand behind all that happens at `now`.
    const std::vector<SweepWire>& at(SimTime now);

    const std::vector<SweepWire>& begun() const { return wires_; }
    ByteRate rate(std::size_t wire) const { return rates_[wire]; }

    // What a wire has still to move.
    u128 rest(const SweepWire& wire) const;

private:
    struct Durations {
        Work work;
        std::int64_t latency = 0;
        std::vector<std::int64_t> by_wire;
    };

    const std::vector<std::int64_t>& durations(std::uint32_t step);
    SimTime free_at(std::size_t wire, SimTime own, SimTime behind) const;
    void step_some(std::uint32_t step);
    std::uint32_t first_step() const;
    std::uint32_t first_even_step() const;
    SweepWire place(std::size_t wire, std::uint32_t step, SimTime now, SimTime from) const;

    Pace pace_;
    std::uint32_t steps_ = 0;
    std::vector<SweepWire> wires_; // as it began
    std::vector<ByteRate> rates_;
    std::deque<Durations> durations_; // few
    std::vector<SimTime> row_;        // when each wire ends the step
    std::vector<SweepWire> found_;
};

} // namespace trainyard::engine
