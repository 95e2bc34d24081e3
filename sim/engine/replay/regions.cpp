#include "sim/engine/replay/growing.h"

#include <algorithm>
#include <unordered_map>

namespace trainyard::engine::replay {

namespace {

// A stretch ends with the first collective behind so many instructions.
constexpr std::size_t long_enough = 60;
// Shorter ones are played as they are.
constexpr std::size_t too_short = 3;

struct SignatureHash {
    std::size_t operator()(const Signature& signature) const
    {
        std::uint64_t hash = signature.size();
        for (const std::uint64_t word : signature)
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U ^ hash >> 29;
        return static_cast<std::size_t>(hash);
    }
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
    NamedRivals rivals_;
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
