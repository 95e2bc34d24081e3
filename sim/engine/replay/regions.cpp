#include "sim/engine/replay/regions.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// A stretch ends with the first collective behind so many instructions.
constexpr std::size_t long_enough = 100;
// Shorter ones are played as they are.
constexpr std::size_t too_short = 3;

constexpr std::uint32_t root_number = 0;
constexpr std::uint32_t outside_numbers = 1U << 31;

// A stretch while it grows.
class Growing {
public:
    Growing(const Cohorts& cohorts, const Tape& tape, std::uint32_t gather)
        : cohorts_(cohorts), tape_(tape)
    {
        const Instr& from = tape.instrs[gather];
        stretch_.cohort = from.cohort;
        stretch_.root = tape.writes[from.write_first + 1];
        meeting_ = from.meeting;
        numbers_[stretch_.root] = root_number;
    }

    enum class Verdict : std::uint8_t { inside, before, behind };

    // Whether the instruction belongs to the stretch, can be played before it, or ends it.
    Verdict judge(const Instr& instr) const
    {
        bool some = false;  // reads what the stretch writes
        bool first = false; // reads the root or what the stretch writes first
        for_each_read(instr, [&](Value value, std::size_t place) {
            some |= derived(value);
            first |= place == 0 && (derived(value) || value == stretch_.root);
        });
        if (instr.cohort == stretch_.cohort && fits(instr, first, some))
            return Verdict::inside;
        return some ? Verdict::behind : Verdict::before;
    }

    void take(std::uint32_t i)
    {
        const Instr& instr = tape_.instrs[i];
        taken_.push_back(i);
        for_each_read(instr, [&](Value value, std::size_t) {
            if (value != instr.base)
                number(value);
            ++reads_[value];
        });
        if (instr.base != none && stretch_.base == none) {
            stretch_.base = instr.base;
            stretch_.base_constant = instr.constant;
        }
        sign(instr);
        for (std::uint32_t w = 0; w < instr.write_count; ++w) {
            const auto next = static_cast<std::uint32_t>(written_.size() + 1);
            numbers_[tape_.writes[instr.write_first + w]] = next;
            written_.push_back(tape_.writes[instr.write_first + w]);
        }
    }

    // `reads`: of each value, by anybody.
    Stretch finish(const std::vector<std::uint32_t>& reads)
    {
        for (std::uint32_t w = 0; w < written_.size(); ++w) {
            const auto inside = reads_.find(written_[w]);
            if (reads[written_[w]] == (inside == reads_.end() ? 0 : inside->second))
                continue;
            stretch_.results.push_back(written_[w]);
            signature_.push_back(w);
        }
        stretch_.instr_count = static_cast<std::uint32_t>(taken_.size());
        return std::move(stretch_);
    }

    const std::vector<std::uint32_t>& taken() const { return taken_; }
    std::vector<std::uint64_t>& signature() { return signature_; }

private:
    bool derived(Value value) const
    {
        const auto found = numbers_.find(value);
        return found != numbers_.end() && found->second != root_number &&
               found->second < outside_numbers;
    }

    // Calls with each value read and its place: 0 for the one that a time is reckoned from.
    template <class Visit>
    void for_each_read(const Instr& instr, const Visit& visit) const
    {
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            visit(tape_.reads[instr.read_first + r],
                  instr.code == Instr::Code::latest ? 0 : std::size_t{r});
        if (instr.base != none)
            visit(instr.base, 100);
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            visit(charge.value, 101);
            if (charge.then != none)
                visit(charge.then, 101);
        }
        for (std::uint32_t l = 0; l < instr.load_count; ++l) {
            const Load& load = tape_.loads[instr.load_first + l];
            visit(load.from, 102);
            if (load.to != none)
                visit(load.to, 102);
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

    std::uint32_t number(Value value)
    {
        const auto [found, added] = numbers_.try_emplace(
            value, outside_numbers + static_cast<std::uint32_t>(stretch_.outside.size()));
        if (added)
            stretch_.outside.push_back(value);
        return found->second;
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
            add(number(tape_.reads[instr.read_first + r]));
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            add(number(charge.value));
            add(charge.into);
        }
        for (std::uint32_t l = 0; l < instr.load_count; ++l) {
            const Load& load = tape_.loads[instr.load_first + l];
            add(number(load.from));
            add(load.to == none ? none : number(load.to));
            add(reinterpret_cast<std::uintptr_t>(load.delay));
            add(reinterpret_cast<std::uintptr_t>(load.share));
            if (!derived(load.from))
                stretch_.beside.push_back(load);
        }
    }

    const Cohorts& cohorts_;
    const Tape& tape_;
    Stretch stretch_;
    std::uint32_t meeting_ = none;
    std::map<Value, std::uint32_t> numbers_; // the root, then written values; those from outside
    std::map<Value, std::uint32_t> reads_;   // inside the stretch
    std::vector<Value> written_;
    std::vector<std::uint32_t> taken_;
    std::vector<std::uint64_t> signature_;
};

class Finder {
public:
    Finder(const Cohorts& cohorts, Tape& tape, const std::vector<Value>& noted)
        : cohorts_(cohorts), tape_(tape), reads_(tape.values.size())
    {
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
        Growing growing(cohorts_, tape_, root);
        std::vector<std::uint32_t> before;
        std::uint32_t next_root = none;
        const std::size_t all = tape_.instrs.size();
        for (; i < all && next_root == none; ++i) {
            const Instr& instr = tape_.instrs[i];
            if (roots(instr) && instr.cohort != tape_.instrs[root].cohort)
                break;
            const Growing::Verdict verdict = growing.judge(instr);
            if (verdict == Growing::Verdict::behind)
                break;
            if (verdict == Growing::Verdict::before) {
                before.push_back(i);
                if (roots(instr))
                    next_root = i; // of the same lanes, but not from here
                continue;
            }
            growing.take(i);
            if (roots(instr) && growing.taken().size() >= long_enough)
                next_root = i;
        }
        for (const std::uint32_t b : before)
            instrs_.push_back(tape_.instrs[b]);
        const auto first = static_cast<std::uint32_t>(instrs_.size());
        for (const std::uint32_t t : growing.taken())
            instrs_.push_back(tape_.instrs[t]);
        if (growing.taken().size() > too_short) {
            Stretch stretch = growing.finish(reads_);
            stretch.instr_first = first;
            growing.signature().push_back(stretch.cohort);
            stretch.pattern =
                known_.try_emplace(std::move(growing.signature()), regions_.patterns).first->second;
            regions_.patterns = std::max(regions_.patterns, stretch.pattern + 1);
            regions_.stretches.push_back(std::move(stretch));
        }
        return {i, next_root};
    }

    const Cohorts& cohorts_;
    Tape& tape_;
    std::vector<std::uint32_t> reads_; // by value
    std::vector<Instr> instrs_;
    Regions regions_;
    std::map<std::vector<std::uint64_t>, std::uint32_t> known_;
};

} // namespace

Regions find_regions(const Cohorts& cohorts, Tape& tape, const std::vector<Value>& noted)
{
    return Finder(cohorts, tape, noted).find();
}

} // namespace trainyard::engine::replay
