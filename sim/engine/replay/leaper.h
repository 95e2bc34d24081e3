#pragma once

// Knows the constants of stretches and leaps over them.

#include "sim/engine/replay/player.h"
#include "sim/engine/replay/regions.h"

namespace trainyard::engine::replay {

class Leaper {
public:
    // Plays one stretch of each pattern; the player's columns are free before the first step.
    Leaper(Player& player, const Cohorts& cohorts, const Tape& tape, const Regions& regions,
           const Slices& slices);

    // The stretch that begins with this instruction; null if none does.
    const Stretch* at(std::size_t instr) const
    {
        return stretch_at_[instr] == none ? nullptr : &regions_.stretches[stretch_at_[instr]];
    }

    // Writes what the stretch leaves behind on the player's lanes. False, and nothing done, if
    // something older may hold up one of them.
    bool leap(Player& player, const Stretch& stretch, bool measured);

    // Adds the sums of all stretches leapt over in the measured step.
    void settle(Player& player) const;

private:
    struct Delta {
        std::uint32_t sum; // of the player's
        Column by;         // by index
    };
    struct Pattern {
        const Stretch* first = nullptr; // the one that it is learned from
        std::vector<Time> leaps;        // in the measured step: by slice, then of all lanes at once
        Column base;                    // base + constant + this <= T
        std::vector<Column> outside;    // value + this <= T
        Column computes_from;        // transfers from before are over by T + this, or begin behind
        Column computes_to;          // T + this
        std::vector<Column> results; // T + this
        std::vector<Delta> deltas;
    };

    void make_room(const Player& player, Pattern& pattern) const;
    void learn_from(const Run& run, Player& player);
    void learn(Player& player, Pattern& pattern);
    void set_out(Player& player, const Stretch& stretch, const Slice& lanes) const;
    void keep_sums(Player& player, Pattern& pattern, const Slice& lanes) const;
    void guard(Player& player, Pattern& pattern, const Instr& instr, const Slice& lanes) const;
    bool holds(Player& player, const Stretch& stretch, const Pattern& pattern, const Time* root);

    bool undisturbed(Player& player, const Stretch& stretch, const Pattern& pattern,
                     const Time* root);

    const Cohorts& cohorts_;
    const Tape& tape_;
    const Regions& regions_;
    const std::vector<Slice>& slices_;
    std::vector<Pattern> patterns_;
    std::vector<std::uint32_t> stretch_at_; // by instruction
    Column root_;
};

} // namespace trainyard::engine::replay
