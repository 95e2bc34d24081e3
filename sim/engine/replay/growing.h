#pragma once

// A stretch (see regions.h) while it is found, instruction by instruction.

#include "sim/engine/replay/regions.h"

namespace trainyard::engine::replay {

// What is known of the values in the stretch at hand.
class Numbers {
public:
    explicit Numbers(std::size_t values) : entries_(values) {}

    void restart() { ++stretch_; }

    bool known(Value value) const { return entries_[value].stretch == stretch_; }
    // Only of known ones.
    std::uint32_t of(Value value) const { return entries_[value].number; }
    std::uint32_t reads(Value value) const { return entries_[value].reads; }

    void add(Value value, std::uint32_t number) { entries_[value] = {stretch_, number, 0, false}; }
    void read(Value value) { ++entries_[value].reads; }

    // Needed behind the stretch.
    void keep(Value value) { entries_[value].kept = true; }
    bool kept(Value value) const { return entries_[value].kept; }

private:
    struct Entry {
        std::uint32_t stretch = 0;
        std::uint32_t number = 0; // the root, then written values; those from outside
        std::uint32_t reads = 0;  // inside the stretch
        bool kept = false;
    };
    std::vector<Entry> entries_;
    std::uint32_t stretch_ = 0;
};

// Alike stretches have equal ones.
using Signature = std::vector<std::uint64_t>;

// Rivals by the value of their end, and the last instruction that names them.
class NamedRivals {
public:
    struct Place {
        std::uint32_t list = none;
        std::uint32_t rival = none;
        std::uint32_t last_use = 0;
    };

    explicit NamedRivals(const Tape& tape)
    {
        if (tape.ranges.empty())
            return;
        by_end_.resize(tape.values.size());
        for_each_last_use(tape, [&](std::uint32_t list, std::uint32_t rival, std::uint32_t i) {
            by_end_[tape.rivals[list][rival].end] = {list, rival, i};
        });
    }

    // Null if none ends with it that is named.
    const Place* ending(Value value) const
    {
        return by_end_.empty() || by_end_[value].list == none ? nullptr : &by_end_[value];
    }

private:
    std::vector<Place> by_end_;
};

class Growing {
public:
    // From a gather on, in which all the stretch has its root.
    Growing(const Tape& tape, const NamedRivals& rivals, Numbers& numbers, Signature& signature,
            std::uint32_t gather);

    enum class Verdict : std::uint8_t { inside, before, behind };

    // Whether the instruction belongs to the stretch, can be played before it, or ends it.
    Verdict judge(const Instr& instr) const;
    void take(const Instr& instr);
    // `reads`: of each value, by anybody; `last`: its last instruction.
    Stretch finish(const std::vector<std::uint32_t>& reads, std::uint32_t last);

private:
    template <class Visit>
    void for_each_read(const Instr& instr, const Visit& visit) const;
    bool derived(Value value) const;
    bool inside(const Load& load) const;
    bool fits(const Instr& instr, bool first, bool some) const;

    RivalRange* own_of(std::uint32_t list);
    const RivalRange* own_of(std::uint32_t list) const
    {
        return const_cast<Growing*>(this)->own_of(list);
    }
    void own(const NamedRivals::Place& place);
    void stand_beside(const RivalRange& range);

    void add(std::uint64_t word) { signature_.push_back(word); }
    std::uint32_t number_of(Value value) const { return value == none ? none : numbers_.of(value); }
    void sign(const Load& load);
    void sign(const Instr& instr);

    const Tape& tape_;
    const NamedRivals& rivals_;
    Numbers& numbers_;
    Signature& signature_;
    Stretch stretch_;
    std::vector<NamedRivals::Place> own_rivals_;
    std::uint32_t meeting_ = none;
    std::vector<Value> written_;
};

} // namespace trainyard::engine::replay
