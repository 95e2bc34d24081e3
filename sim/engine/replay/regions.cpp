#include "sim/engine/replay/growing.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trainyard::engine::replay {

namespace {

// A stretch ends with the first collective behind so many instructions.
constexpr std::size_t long_enough = 80;
// Shorter ones are played as they are.
constexpr std::size_t too_short = 3;
// Learning a pattern costs about as much as playing it twice.
constexpr std::uint32_t few_times = 3;

struct SignatureHash {
    std::size_t operator()(const Signature& signature) const
    {
        std::uint64_t hash = signature.size();
        for (const std::uint64_t word : signature) {
            const u128 product = static_cast<u128>(hash ^ word) * 0x9e3779b97f4a7c15U;
            hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
        }
        return static_cast<std::size_t>(hash);
    }
};

class RegionFinder {
public:
    RegionFinder(const Cohorts& cohorts, Tape& tape, std::uint32_t steps)
        : cohorts_(cohorts), tape_(tape), steps_(steps), growing_(tape, regions_)
    {}

    Regions find() &&
    {
        for (std::uint32_t i = 0; i < tape_.instrs.size();)
            if (root_)
                i = grow(*std::exchange(root_, std::nullopt), i);
            else
                note_root(tape_.instrs[i++]);
        for (ValueInfo& value : tape_.values)
            if (value.last_use < moved_.size())
                value.last_use = std::max(value.last_use, moved_[value.last_use]);
        drop_rare();
        return std::move(regions_);
    }

private:
    bool roots(const Instr& instr) const
    {
        return instr.code == Instr::Code::gather && cohorts_.meetings[instr.meeting].stride == 1;
    }
    void note_root(const Instr& instr)
    {
        if (roots(instr))
            root_ = instr;
    }

    // A stretch from instruction i on. Gives where to go on.
    std::uint32_t grow(const Instr& root, std::uint32_t i)
    {
        growing_.begin(root);
        taken_.clear();
        while (i < tape_.instrs.size() && !root_) {
            const Instr& instr = tape_.instrs[i];
            if (roots(instr) && instr.cohort != root.cohort)
                break;
            const Growing::Verdict verdict = growing_.judge(instr);
            if (verdict == Growing::Verdict::behind)
                break;
            if (verdict == Growing::Verdict::inside) {
                growing_.take(instr);
                taken_.push_back(i);
            }
            // One that is not in it is of the same lanes, but from elsewhere.
            if (verdict == Growing::Verdict::before || taken_.size() >= long_enough)
                note_root(instr);
            ++i;
        }
        if (taken_.size() > too_short)
            add(growing_.finish(taken_.back()));
        else
            growing_.drop();
        return i;
    }

    void add(Stretch stretch)
    {
        put_together();
        stretch.instr_count = static_cast<std::uint32_t>(taken_.size());
        stretch.instr_first = taken_.back() + 1 - stretch.instr_count;
        stretch.pattern = known_.try_emplace(growing_.signature(), regions_.patterns).first->second;
        regions_.patterns = std::max(regions_.patterns, stretch.pattern + 1);
        regions_.stretches.push_back(stretch);
    }

    // What lies between the instructions of the stretch goes before them.
    void put_together()
    {
        const std::uint32_t first = taken_.front();
        const std::uint32_t last = taken_.back();
        if (last - first + 1 == taken_.size())
            return;
        moved_.resize(tape_.instrs.size());
        std::fill(moved_.begin() + first, moved_.begin() + last + 1, last);
        own_.clear();
        std::uint32_t to = first;
        for (std::uint32_t i = first; i <= last; ++i)
            if (i == taken_[own_.size()])
                own_.push_back(tape_.instrs[i]);
            else
                tape_.instrs[to++] = tape_.instrs[i];
        std::copy(own_.begin(), own_.end(), tape_.instrs.begin() + to);
    }

    // Patterns that are not worth the learning; the others get new numbers.
    void drop_rare()
    {
        std::vector<std::uint32_t> times(regions_.patterns);
        for (const Stretch& stretch : regions_.stretches)
            ++times[stretch.pattern];
        std::erase_if(regions_.stretches, [&](const Stretch& stretch) {
            return times[stretch.pattern] * steps_ < few_times;
        });
        std::uint32_t patterns = 0;
        for (std::uint32_t& number : times)
            number = number * steps_ < few_times ? none : patterns++;
        for (Stretch& stretch : regions_.stretches)
            stretch.pattern = times[stretch.pattern];
        regions_.patterns = patterns;
    }

    const Cohorts& cohorts_;
    Tape& tape_;
    std::uint32_t steps_;
    Regions regions_;
    Growing growing_;
    std::optional<Instr> root_;        // the gather that the next stretch starts from
    std::vector<std::uint32_t> taken_; // by the stretch at hand
    std::vector<Instr> own_;           // of it
    std::vector<std::uint32_t> moved_; // by instruction: no later than there it is now
    std::unordered_map<Signature, std::uint32_t, SignatureHash> known_;
};

} // namespace

Regions find_regions(const Cohorts& cohorts, Tape& tape, std::uint32_t steps)
{
    return RegionFinder(cohorts, tape, steps).find();
}

} // namespace trainyard::engine::replay
