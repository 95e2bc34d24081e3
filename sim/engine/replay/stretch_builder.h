#pragma once

// Builds a stretch (see stretches.h) instruction by instruction.

#include "sim/engine/replay/stretches.h"

namespace trainyard::engine::replay {

// Numbers the values that the stretch at hand reads and writes.
class ValueNumbers {
public:
    static constexpr std::uint32_t root = 0; // written values follow
    static constexpr std::uint32_t first_outside = 1U << 31;

    explicit ValueNumbers(std::size_t values) : entries_(values) {}

    void restart() { ++stretch_; }

    bool known(Value value) const { return entries_[value].stretch == stretch_; }
    // Whether the value is the root or written by the stretch.
    bool inside(Value value) const { return known(value) && of(value) < first_outside; }
    bool derived(Value value) const { return inside(value) && of(value) != root; }
    // The number of a known value.
    std::uint32_t of(Value value) const { return entries_[value].number; }

    void add(Value value, std::uint32_t number) { entries_[value] = {stretch_, number}; }

private:
    struct Entry {
        std::uint32_t stretch = 0;
        std::uint32_t number = 0;
    };
    std::vector<Entry> entries_;
    std::uint32_t stretch_ = 0;
};

// Alike stretches have equal signatures.
using Signature = std::vector<std::uint64_t>;

// The overlapping transfers that some instruction names, by the value of their end.
class OverlapsByEnd {
public:
    struct Position {
        std::uint32_t list = none;
        std::uint32_t overlap = none;
    };

    explicit OverlapsByEnd(const StepCode& code);

    // Null if no named transfer ends with the value.
    const Position* ending(Value value) const
    {
        return by_end_.empty() || by_end_[value] == none ? nullptr : &positions_[by_end_[value]];
    }

private:
    std::vector<Position> positions_;
    std::vector<std::uint32_t> by_end_; // into positions_; empty: there are none
};

class StretchBuilder {
public:
    StretchBuilder(const StepCode& code, Stretches& stretches);

    // Begins a stretch behind a collective, whose end is its root.
    void begin(const Instr& collective);

    enum class Verdict : std::uint8_t { inside, before, behind };

    // Whether the instruction belongs to the stretch, can be executed before it, or ends it.
    Verdict classify(const Instr& instr) const;
    void append(const Instr& instr);
    // Completes the stretch, but for its pattern and where it lies. `last` is its last instruction.
    Stretch finish(std::uint32_t last);
    // Gives the stretch up.
    void discard();

    const Signature& signature() const { return signature_; }

private:
    template <class Visit>
    void for_each_read(const Instr& instr, const Visit& visit) const;
    bool inside(const Load& load) const;
    bool fits(const Instr& instr, bool first, bool some) const;

    void add_own(const OverlapsByEnd::Position& position);
    void add_overlaps(const OverlapRange& range);

    void add(std::uint64_t word) { signature_.push_back(word); }
    void add(std::uint32_t high, std::uint32_t low) { add(std::uint64_t{high} << 32 | low); }
    std::uint32_t number_of(Value value) const { return value == none ? none : numbers_.of(value); }
    void sign(const Load& load);
    void sign(const Instr& instr);

    const StepCode& code_;
    Stretches& stretches_;
    OverlapsByEnd overlaps_by_end_;
    ValueNumbers numbers_;
    Signature signature_;
    Stretch stretch_;
    std::vector<OverlapRange> overlaps_;
    std::vector<OverlapRange> own_overlaps_;
    std::uint32_t group_class_ = none;
    std::vector<Value> written_;
};

} // namespace trainyard::engine::replay
