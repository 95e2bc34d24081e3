#include "sim/engine/replay/regions.h"

#include <algorithm>
#include <unordered_map>

namespace trainyard::engine::replay {

namespace {

// A stretch ends with the first collective behind so many instructions.
constexpr std::size_t long_enough = 60;
// Shorter ones are played as they are.
constexpr std::size_t too_short = 3;

constexpr std::uint32_t root_number = 0;
constexpr std::uint32_t outside_numbers = 1U << 31;

// Where an instruction reads a value that no time is reckoned from.
constexpr std::size_t place_of_base = 100;
constexpr std::size_t place_behind = 101;

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

using Signature = std::vector<std::uint64_t>;

struct SignatureHash {
    std::size_t operator()(const Signature& signature) const
    {
        std::uint64_t hash = signature.size();
        for (const std::uint64_t word : signature)
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U ^ hash >> 29;
        return static_cast<std::size_t>(hash);
    }
};

// Rivals by the value of their end, and the last instruction that names them.
class Rivals {
public:
    struct Place {
        std::uint32_t list = none;
        std::uint32_t rival = none;
        std::uint32_t last_use = 0;
    };

    explicit Rivals(const Tape& tape)
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

// A stretch while it grows.
class Growing {
public:
    Growing(const Tape& tape, const Rivals& rivals, Numbers& numbers, Signature& signature,
            std::uint32_t gather)
        : tape_(tape), rivals_(rivals), numbers_(numbers), signature_(signature)
    {
        const Instr& from = tape.instrs[gather];
        stretch_.cohort = from.cohort;
        stretch_.root = tape.writes[from.write_first + 1];
        meeting_ = from.meeting;
        numbers_.restart();
        numbers_.add(stretch_.root, root_number);
        signature_.clear();
    }

    enum class Verdict : std::uint8_t { inside, before, behind };

    // Whether the instruction belongs to the stretch, can be played before it, or ends it.
    Verdict judge(const Instr& instr) const
    {
        bool some = false;  // reads what the stretch writes
        bool first = false; // reads the root or what the stretch writes first
        for_each_read(instr, [&](Value value, std::size_t place) {
            if (!numbers_.known(value) || numbers_.of(value) >= outside_numbers)
                return;
            some |= numbers_.of(value) != root_number;
            first |= place == 0;
        });
        if (instr.cohort == stretch_.cohort)
            for_each_range(tape_, instr, [&](const RivalRange& range) {
                const RivalRange* own = own_of(range.list);
                some |= own != nullptr && own->first < range.end;
            });
        if (instr.cohort == stretch_.cohort && fits(instr, first, some))
            return Verdict::inside;
        return some ? Verdict::behind : Verdict::before;
    }

    void take(const Instr& instr)
    {
        for_each_read(instr, [&](Value value, std::size_t place) {
            if (place == place_of_base)
                return;
            if (!numbers_.known(value)) {
                numbers_.add(value,
                             outside_numbers + static_cast<std::uint32_t>(stretch_.outside.size()));
                stretch_.outside.push_back(value);
            }
            numbers_.read(value);
        });
        if (instr.base != none && stretch_.base == none) {
            stretch_.base = instr.base;
            stretch_.base_constant = instr.constant;
        }
        sign(instr);
        for_each_range(tape_, instr, [&](const RivalRange& range) { stand_beside(range); });
        for (std::uint32_t w = 0; w < instr.write_count; ++w) {
            written_.push_back(tape_.writes[instr.write_first + w]);
            numbers_.add(written_.back(), static_cast<std::uint32_t>(written_.size()));
        }
        for (std::uint32_t w = 0; w < instr.write_count; ++w)
            if (const Rivals::Place* rival = rivals_.ending(tape_.writes[instr.write_first + w]))
                own(*rival);
    }

    // `reads`: of each value, by anybody; `last`: its last instruction.
    Stretch finish(const std::vector<std::uint32_t>& reads, std::uint32_t last)
    {
        for (const Rivals::Place& place : own_rivals_)
            if (place.last_use > last)
                for_each_value(tape_, tape_.rivals[place.list][place.rival], [&](Value value) {
                    if (derived(value))
                        numbers_.keep(value);
                });
        for (std::uint32_t w = 0; w < written_.size(); ++w) {
            if (reads[written_[w]] == numbers_.reads(written_[w]) && !numbers_.kept(written_[w]))
                continue;
            stretch_.results.push_back(written_[w]);
            signature_.push_back(w);
        }
        signature_.push_back(stretch_.cohort);
        return std::move(stretch_);
    }

private:
    // The rivals of a list that are over in the stretch; null if none is.
    RivalRange* own_of(std::uint32_t list)
    {
        const auto found = std::find_if(stretch_.own.begin(), stretch_.own.end(),
                                        [&](const RivalRange& own) { return own.list == list; });
        return found == stretch_.own.end() ? nullptr : &*found;
    }
    const RivalRange* own_of(std::uint32_t list) const
    {
        return const_cast<Growing*>(this)->own_of(list);
    }

    void own(const Rivals::Place& place)
    {
        own_rivals_.push_back(place);
        RivalRange* own = own_of(place.list);
        if (own == nullptr)
            own = &stretch_.own.emplace_back(RivalRange{place.list, place.rival, place.rival});
        own->end = place.rival + 1;
        const Rival& rival = tape_.rivals[place.list][place.rival];
        add(rival.load_count);
        for (std::uint32_t l = 0; l < rival.load_count; ++l)
            sign(tape_.loads[rival.load_first + l]);
    }

    void stand_beside(const RivalRange& range)
    {
        const RivalRange* own = own_of(range.list);
        const std::uint32_t end = own == nullptr ? range.end : std::min(own->first, range.end);
        if (own != nullptr && own->first < range.end) {
            add(std::uint64_t{range.list} << 32 | (std::max(range.first, own->first) - own->first));
            add(range.end - own->first);
        }
        if (range.first >= end)
            return;
        const auto found =
            std::find_if(stretch_.beside.begin(), stretch_.beside.end(),
                         [&](const RivalRange& beside) { return beside.list == range.list; });
        if (found == stretch_.beside.end())
            return stretch_.beside.push_back({range.list, range.first, end});
        found->first = std::min(found->first, range.first);
        found->end = std::max(found->end, end);
    }

    // Written by the stretch.
    bool derived(Value value) const
    {
        return numbers_.known(value) && numbers_.of(value) != root_number &&
               numbers_.of(value) < outside_numbers;
    }

    // Calls with each value read and its place: 0 for the one that a time is reckoned from.
    template <class Visit>
    void for_each_read(const Instr& instr, const Visit& visit) const
    {
        const bool from_all = instr.code == Instr::Code::latest || instr.code == Instr::Code::run ||
                              instr.code == Instr::Code::compute;
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            visit(tape_.reads[instr.read_first + r], from_all ? 0 : std::size_t{r});
        if (instr.base != none)
            visit(instr.base, place_of_base);
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            visit(charge.value, place_behind);
            if (charge.then != none)
                visit(charge.then, place_behind);
        }
        for (std::uint32_t l = 0; l < instr.load_count; ++l) {
            const Load& load = tape_.loads[instr.load_first + l];
            visit(load.from, place_behind);
            if (load.to != none)
                visit(load.to, place_behind);
        }
    }

    // `first`: what it reckons from is known up to T; `some`: it needs the stretch.
    bool fits(const Instr& instr, bool first, bool some) const
    {
        if (instr.base != none &&
            (derived(instr.base) || (stretch_.base != none && instr.base != stretch_.base)))
            return false;
        const auto known = [&](std::uint32_t r) {
            const Value value = tape_.reads[instr.read_first + r];
            return derived(value) || value == stretch_.root;
        };
        switch (instr.code) {
        case Instr::Code::latest:
        case Instr::Code::run:
            return first;
        case Instr::Code::gather:
            return instr.meeting == meeting_ && first;
        case Instr::Code::compute:
            for (std::uint32_t l = 0; l < instr.load_count; ++l)
                if (!inside(tape_.loads[instr.load_first + l]))
                    return false;
            return first;
        case Instr::Code::charge:
            for (std::uint32_t k = 0; k < instr.charge_count; ++k)
                if (tape_.charges[instr.charge_first + k].group > 0)
                    return false;
            return first && some;
        case Instr::Code::count:
            return known(0) && known(1) && known(2);
        default:
            return false;
        }
    }

    bool inside(const Load& load) const
    {
        return derived(load.from) && (load.to == none || derived(load.to));
    }

    void add(std::uint64_t word) { signature_.push_back(word); }

    std::uint32_t number_of(Value value) const { return value == none ? none : numbers_.of(value); }

    void sign(const Load& load)
    {
        add(std::uint64_t{number_of(load.from)} << 32 | number_of(load.to));
        add(reinterpret_cast<std::uintptr_t>(load.delay));
        add(reinterpret_cast<std::uintptr_t>(load.share));
    }

    void sign(const Instr& instr)
    {
        add(std::uint64_t{instr.read_count} << 32 | static_cast<std::uint64_t>(instr.code) << 8 |
            (instr.base != none ? 8U : 0U) | (instr.host_ends ? 4U : 0U) |
            (instr.counted ? 2U : 0U) | (instr.measured ? 1U : 0U));
        add(std::uint64_t{instr.meeting} << 32 | instr.total);
        add(reinterpret_cast<std::uintptr_t>(instr.table));
        add(reinterpret_cast<std::uintptr_t>(instr.table2));
        add(static_cast<std::uint64_t>(instr.constant -
                                       (instr.base != none ? stretch_.base_constant : 0)));
        add(static_cast<std::uint64_t>(instr.host_ends ? instr.end_constant - stretch_.base_constant
                                                       : 0));
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            add(numbers_.of(tape_.reads[instr.read_first + r]));
        add(std::uint64_t{instr.charge_count} << 32 | instr.load_count);
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            add(std::uint64_t{numbers_.of(charge.value)} << 32 | charge.into);
        }
        for (std::uint32_t l = 0; l < instr.load_count; ++l)
            sign(tape_.loads[instr.load_first + l]);
    }

    const Tape& tape_;
    const Rivals& rivals_;
    Numbers& numbers_;
    Signature& signature_;
    Stretch stretch_;
    std::vector<Rivals::Place> own_rivals_;
    std::uint32_t meeting_ = none;
    std::vector<Value> written_;
};

class Finder {
public:
    Finder(const Cohorts& cohorts, Tape& tape, const std::vector<Value>& noted)
        : cohorts_(cohorts),
          tape_(tape),
          reads_(tape.values.size()),
          rivals_(tape),
          numbers_(tape.values.size())
    {
        instrs_.reserve(tape.instrs.size());
        for (const Value value : tape.reads)
            ++reads_[value];
        for (const Instr& instr : tape.instrs) {
            if (instr.base != none)
                ++reads_[instr.base];
            for (std::uint32_t l = 0; l < instr.load_count; ++l) {
                const Load& load = tape.loads[instr.load_first + l];
                ++reads_[load.from];
                if (load.to != none)
                    ++reads_[load.to];
            }
        }
        for (const Charge& charge : tape.charges) {
            ++reads_[charge.value];
            if (charge.then != none)
                ++reads_[charge.then];
        }
        for (const Value value : noted)
            ++reads_[value];
        for (const Carry& carry : tape.carries)
            ++reads_[carry.from];
    }

    Regions find() &&
    {
        std::uint32_t root = none; // the gather that the next stretch starts from
        for (std::uint32_t i = 0; i < tape_.instrs.size();) {
            if (root == none) {
                instrs_.push_back(tape_.instrs[i]);
                if (roots(tape_.instrs[i]))
                    root = i;
                ++i;
                continue;
            }
            std::tie(i, root) = grow(root, i);
        }
        tape_.instrs = std::move(instrs_);
        return std::move(regions_);
    }

private:
    bool roots(const Instr& instr) const
    {
        return instr.code == Instr::Code::gather && cohorts_.meetings[instr.meeting].stride == 1;
    }

    // A stretch from instruction i on. Gives where to go on, and the gather to do so from.
    std::pair<std::uint32_t, std::uint32_t> grow(std::uint32_t root, std::uint32_t i)
    {
        Growing growing(tape_, rivals_, numbers_, signature_, root);
        taken_.clear();
        std::uint32_t next_root = none;
        const std::size_t all = tape_.instrs.size();
        for (; i < all && next_root == none; ++i) {
            const Instr& instr = tape_.instrs[i];
            const bool is_root = roots(instr);
            if (is_root && instr.cohort != tape_.instrs[root].cohort)
                break;
            const Growing::Verdict verdict = growing.judge(instr);
            if (verdict == Growing::Verdict::behind)
                break;
            if (verdict == Growing::Verdict::before) {
                instrs_.push_back(instr);
                if (is_root)
                    next_root = i; // of the same lanes, but not from here
                continue;
            }
            growing.take(instr);
            taken_.push_back(i);
            if (is_root && taken_.size() >= long_enough)
                next_root = i;
        }
        const auto first = static_cast<std::uint32_t>(instrs_.size());
        for (const std::uint32_t t : taken_)
            instrs_.push_back(tape_.instrs[t]);
        if (taken_.size() > too_short)
            add(growing.finish(reads_, taken_.back()), first);
        return {i, next_root};
    }

    void add(Stretch stretch, std::uint32_t first)
    {
        stretch.instr_first = first;
        stretch.instr_count = static_cast<std::uint32_t>(taken_.size());
        stretch.pattern = known_.try_emplace(signature_, regions_.patterns).first->second;
        regions_.patterns = std::max(regions_.patterns, stretch.pattern + 1);
        regions_.stretches.push_back(std::move(stretch));
    }

    const Cohorts& cohorts_;
    Tape& tape_;
    std::vector<std::uint32_t> reads_; // by value
    Rivals rivals_;
    Numbers numbers_;
    std::vector<Instr> instrs_;
    std::vector<std::uint32_t> taken_; // by the stretch at hand
    Signature signature_;              // of it
    Regions regions_;
    std::unordered_map<Signature, std::uint32_t, SignatureHash> known_;
};

} // namespace

Regions find_regions(const Cohorts& cohorts, Tape& tape, const std::vector<Value>& noted)
{
    return Finder(cohorts, tape, noted).find();
}

} // namespace trainyard::engine::replay
