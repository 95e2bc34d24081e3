#pragma once

// Learns the constants of each pattern of stretches once, and applies them in place of executing
// the stretch.

#include "sim/engine/replay/interpreter.h"
#include "sim/engine/replay/stretches.h"

namespace trainyard::engine::replay {

class StretchCache {
public:
    // Executes one stretch of each pattern, which overwrites the interpreter's columns; call before
    // the first step.
    StretchCache(Interpreter& interpreter, const LaneClasses& lane_classes, const StepCode& code,
                 const Stretches& stretches, const Slices& slices);

    // The stretch that begins with this instruction; null if none does.
    const Stretch* at(std::size_t instr) const
    {
        return stretch_at_[instr] == none ? nullptr : &stretches_.all[stretch_at_[instr]];
    }

    // Writes the results of the stretch on the interpreter's lanes. False, and nothing done, if
    // something older may hold up one of them.
    bool apply(Interpreter& interpreter, const Stretch& stretch, bool measured);

    // Adds the sums of all stretches that it was applied to in the measured step.
    void add_sums(Interpreter& interpreter) const;

private:
    struct SumDelta {
        std::uint32_t sum; // of the interpreter's
        Column by;         // by index
    };
    struct Pattern {
        const Stretch* first = nullptr; // the one that it is learned from
        std::vector<Time> uses;         // in the measured step: by slice, then of all lanes at once
        Column base;                    // base + constant + this <= T
        std::vector<Column> outside;    // value + this <= T
        Column computes_from;        // transfers from before are over by T + this, or begin behind
        Column computes_to;          // T + this
        std::vector<Column> results; // T + this
        std::vector<SumDelta> deltas;
    };

    void allocate(const Interpreter& interpreter, Pattern& pattern) const;
    void learn_from(const InstrRange& range, Interpreter& interpreter);
    void learn(Interpreter& interpreter, Pattern& pattern);
    void reset_inputs(Interpreter& interpreter, const Stretch& stretch, const Slice& lanes) const;
    void keep_sums(Interpreter& interpreter, Pattern& pattern, const Slice& lanes) const;
    void add_guards(Interpreter& interpreter, Pattern& pattern, const Instr& instr,
                    const Slice& lanes) const;
    bool guards_hold(Interpreter& interpreter, const Stretch& stretch, const Pattern& pattern,
                     const Time* root);

    bool undisturbed(Interpreter& interpreter, const Stretch& stretch, const Pattern& pattern,
                     const Time* root);

    const LaneClasses& classes_;
    const StepCode& code_;
    const Stretches& stretches_;
    const std::vector<Slice>& slices_;
    std::vector<Pattern> patterns_;
    std::vector<std::uint32_t> stretch_at_; // by instruction
    Column root_;
};

} // namespace trainyard::engine::replay
