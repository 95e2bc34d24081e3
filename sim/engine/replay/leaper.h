#pragma once

// Knows the constants of stretches and leaps over them.

#include "sim/engine/replay/player.h"
#include "sim/engine/replay/regions.h"

namespace trainyard::engine::replay {

class Leaper {
public:
    // Plays one stretch of each pattern; the player's columns are free before the first step.
    Leaper(Player& player, const Cohorts& cohorts, const Tape& tape, const Regions& regions);

    // The stretch that begins with this instruction; null if none does. In the order of the tape.
    const Stretch* at(std::size_t instr);
    void restart() { next_ = 0; }

    // Writes what the stretch leaves behind. False, and nothing done, if something older may hold
    // up one of the lanes.
    bool leap(Player& player, const Stretch& stretch, bool measured);

    // Adds the sums of all stretches leapt over in the measured step.
    void settle() const;

private:
    struct Delta {
        Time* sum;
        Column by; // by index
    };
    struct Pattern {
        bool known = false;
        std::uint64_t leaps = 0;
        Column base;                 // base + constant + this <= T
        std::vector<Column> outside; // value + this <= T
        Column computes_from;        // transfers from before are over by T + this, or begin behind
        Column computes_to;          // T + this
        std::vector<Column> results; // T + this
        std::vector<Delta> deltas;
    };

    void learn(Player& player, const Tape& tape, const Stretch& stretch);
    void guard(Player& player, const Tape& tape, const Stretch& stretch, const Instr& instr);
    bool holds(Player& player, const Stretch& stretch, const Pattern& pattern,
               const Time* root) const;

    const Cohorts& cohorts_;
    const std::vector<Stretch>& stretches_;
    std::vector<Pattern> patterns_;
    std::vector<Time> root_;
    std::size_t next_ = 0;
};

} // namespace trainyard::engine::replay
