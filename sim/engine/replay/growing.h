#pragma once

// A stretch (see regions.h) while it is found, instruction by instruction.

#include "sim/engine/replay/regions.h"

namespace trainyard::engine::replay {

// What is known of the values in the stretch at hand.
class Numbers {
public:
    static constexpr std::uint32_t root = 0; // written values follow
    static constexpr std::uint32_t first_outside = 1U << 31;

    explicit Numbers(std::size_t values) : entries_(values) {}

    void restart() { ++stretch_; }

    bool known(Value value) const { return entries_[value].stretch == stretch_; }
    // The root or written by the stretch.
    bool inside(Value value) const { return known(value) && of(value) < first_outside; }
    bool derived(Value value) const { return inside(value) && of(value) != root; }
    // Only of known ones.
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

// Alike stretches have equal ones.
using Signature = std::vector<std::uint64_t>;

// Rivals that some instruction names, by the value of their end.
class NamedRivals {
public:
    struct Place {
        std::uint32_t list = none;
        std::uint32_t rival = none;
    };

    explicit NamedRivals(const Tape& tape);

    // Null if none ends with it that is named.
    const Place* ending(Value value) const
    {
        return by_end_.empty() || by_end_[value] == none ? nullptr : &places_[by_end_[value]];
    }

private:
    std::vector<Place> places_;
    std::vector<std::uint32_t> by_end_; // into places_; empty: there are none
};

class Growing {
public:
    Growing(const Tape& tape, Regions& regions);

    // From a gather on, in which all the stretch has its root.
    void begin(const Instr& gather);

    enum class Verdict : std::uint8_t { inside, before, behind };

    // Whether the instruction belongs to the stretch, can be played before it, or ends it.
    Verdict judge(const Instr& instr) const;
    void take(const Instr& instr);
    // `last`: its last instruction. But for its pattern and where it lies.
    Stretch finish(std::uint32_t last);
    // It is none.
    void drop();

    const Signature& signature() const { return signature_; }

private:
    template <class Visit>
    void for_each_read(const Instr& instr, const Visit& visit) const;
    bool inside(const Load& load) const;
    bool fits(const Instr& instr, bool first, bool some) const;

    const RivalRange* own_of(std::uint32_t list) const;
    void own(const NamedRivals::Place& place);
    void stand_beside(const RivalRange& range);

    void add(std::uint64_t word) { signature_.push_back(word); }
    void add(std::uint32_t high, std::uint32_t low) { add(std::uint64_t{high} << 32 | low); }
    std::uint32_t number_of(Value value) const { return value == none ? none : numbers_.of(value); }
    void sign(const Load& load);
    void sign(const Instr& instr);

    const Tape& tape_;
    Regions& regions_;
    NamedRivals rivals_;
    Numbers numbers_;
    Signature signature_;
    Stretch stretch_;
    std::vector<RivalRange> beside_;
    std::vector<RivalRange> own_;
    std::uint32_t meeting_ = none;
    std::vector<Value> written_;
};

} // namespace trainyard::engine::replay
