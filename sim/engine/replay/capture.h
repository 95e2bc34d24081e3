#pragma once

// Keeps columns of some lanes that the tape would overwrite.

#include "sim/engine/replay/player.h"

namespace trainyard::engine::replay {

class Capture {
public:
    // `lanes`: those to keep, by cohort: indices.
    Capture(const Cohorts& cohorts, const Tape& tape, std::vector<std::vector<std::uint32_t>> lanes)
        : cohorts_(cohorts), tape_(tape), lanes_(std::move(lanes)), first_(tape.values.size(), none)
    {}

    const std::vector<std::uint32_t>& lanes(std::uint32_t cohort) const { return lanes_[cohort]; }

    // Keeps what the lanes of the cohort find in the column, which may be a neighbour's.
    void want(std::uint32_t cohort, Value value);
    // All that says when the ops of a cohort run.
    void want_ops(std::uint32_t cohort);

    // What comes in to a step; what an instruction has written.
    void note_inputs(Player& player);
    void note(Player& player, const Instr& instr);

    // Of the i-th kept lane of the cohort; 0 for no value.
    Time at(std::uint32_t cohort, Value value, std::size_t i) const;

private:
    struct Kept {
        std::uint32_t cohort = 0;
        std::uint32_t next = none; // of the same value
        std::size_t place = 0;     // in times_
    };

    void copy(Player& player, Value value);

    const Cohorts& cohorts_;
    const Tape& tape_;
    std::vector<std::vector<std::uint32_t>> lanes_;
    std::vector<std::uint32_t> first_; // by value, into kept_
    std::vector<Kept> kept_;
    std::size_t size_ = 0;
    std::vector<Time> times_;
};

} // namespace trainyard::engine::replay
