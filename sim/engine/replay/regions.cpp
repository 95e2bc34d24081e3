#include "sim/engine/replay/regions.h"

#include <algorithm>
#include <unordered_map>

namespace trainyard::engine::replay {

namespace {

// A stretch ends with the first collective behind so many instructions.
constexpr std::size_t long_enough = 100;
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

    void add(Value value, std::uint32_t number) { entries_[value] = {stretch_, number, 0}; }
    void read(Value value) { ++entries_[value].reads; }

private:
    struct Entry {
        std::uint32_t stretch = 0;
        std::uint32_t number = 0; // the root, then written values; those from outside
        std::uint32_t reads = 0;  // inside the stretch
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

// A stretch while it grows.
class Growing {
public:
    Growing(const Tape& tape, Numbers& numbers, Signature& signature, std::uint32_t gather)
        : tape_(tape), numbers_(numbers), signature_(signature)
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
        for (std::uint32_t w = 0; w < instr.write_count; ++w) {
            written_.push_back(tape_.writes[instr.write_first + w]);
            numbers_.add(written_.back(), static_cast<std::uint32_t>(written_.size()));
        }
    }

    // `reads`: of each value, by anybody.
    Stretch finish(const std::vector<std::uint32_t>& reads)
    {
        for (std::uint32_t w = 0; w < written_.size(); ++w) {
            if (reads[written_[w]] == numbers_.reads(written_[w]))
                continue;
            stretch_.results.push_back(written_[w]);
            signature_.push_back(w);
        }
        signature_.push_back(stretch_.cohort);
        return std::move(stretch_);
    }

private:
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
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            visit(tape_.reads[instr.read_first + r],
                  instr.code == Instr::Code::latest ? 0 : std::size_t{r});
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
        case Instr::Code::timed:
            return first;
        case Instr::Code::gather:
            return instr.meeting == meeting_ && first;
        case Instr::Code::compute: {
            for (std::uint32_t l = 0; l < instr.load_count; ++l) {
                const Load& load = tape_.loads[instr.load_first + l];
                if (load.to == none ? !derived(load.from) : derived(load.from) != derived(load.to))
                    return false;
            }
            return first;
        }
        case Instr::Code::charge:
            for (std::uint32_t k = 0; k < instr.charge_count; ++k)
                if (tape_.charges[instr.charge_first + k].group > 0)
                    return false;
            return first && some;
        case Instr::Code::count:
            return known(0) && known(1) && known(2);
        case Instr::Code::busy:
            return known(0) && known(1);
        default:
            return false;
        }
    }

    void sign(const Instr& instr)
    {
        const auto add = [&](auto word) { signature_.push_back(static_cast<std::uint64_t>(word)); };
        add(instr.code);
        add(instr.measured);
        add(instr.meeting);
        add(instr.total);
        add(reinterpret_cast<std::uintptr_t>(instr.table));
        add(reinterpret_cast<std::uintptr_t>(instr.table2));
        add(instr.base != none);
        add(instr.constant - (instr.base != none ? stretch_.base_constant : 0));
        add(instr.read_count);
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            add(numbers_.of(tape_.reads[instr.read_first + r]));
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            add(numbers_.of(charge.value));
            add(charge.into);
        }
        for (std::uint32_t l = 0; l < instr.load_count; ++l) {
            const Load& load = tape_.loads[instr.load_first + l];
            add(numbers_.of(load.from));
            add(load.to == none ? none : numbers_.of(load.to));
            add(reinterpret_cast<std::uintptr_t>(load.delay));
            add(reinterpret_cast<std::uintptr_t>(load.share));
            if (!derived(load.from))
                stretch_.beside.push_back(load);
        }
    }

    const Tape& tape_;
    Numbers& numbers_;
    Signature& signature_;
    Stretch stretch_;
    std::uint32_t meeting_ = none;
    std::vector<Value> written_;
};

class Finder {
public:
    Finder(const Cohorts& cohorts, Tape& tape, const std::vector<Value>& noted)
        : cohorts_(cohorts), tape_(tape), reads_(tape.values.size()), numbers_(tape.values.size())
    {
        instrs_.reserve(tape.instrs.size());
        for (const Value value : tape.reads)
            ++reads_[value];
        for (const Instr& instr : tape.instrs)
            if (instr.base != none)
                ++reads_[instr.base];
        for (const Charge& charge : tape.charges) {
            ++reads_[charge.value];
            if (charge.then != none)
                ++reads_[charge.then];
        }
        for (const Load& load : tape.loads) {
            ++reads_[load.from];
            if (load.to != none)
                ++reads_[load.to];
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
        Growing growing(tape_, numbers_, signature_, root);
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
            add(growing.finish(reads_), first);
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
