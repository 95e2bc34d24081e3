#include "sim/engine/replay/stretch_builder.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trainyard::engine::replay {

namespace {

// A stretch ends with the first collective behind so many instructions.
constexpr std::size_t long_enough = 80;
// Shorter stretches are executed as they are.
constexpr std::size_t too_short = 3;
// Learning a pattern costs about as much as executing it twice.
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

class StretchFinder {
public:
    StretchFinder(const LaneClasses& lane_classes, StepCode& code, std::uint32_t steps)
        : classes_(lane_classes), code_(code), steps_(steps), builder_(code, stretches_)
    {}

    Stretches find() &&
    {
        for (std::uint32_t i = 0; i < code_.instrs.size();)
            if (root_)
                i = build(*std::exchange(root_, std::nullopt), i);
            else
                note_root(code_.instrs[i++]);
        for (ValueInfo& value : code_.values)
            if (value.last_use < moved_.size())
                value.last_use = std::max(value.last_use, moved_[value.last_use]);
        drop_rare();
        return std::move(stretches_);
    }

private:
    bool roots(const Instr& instr) const
    {
        return instr.opcode == Instr::Opcode::collective &&
               classes_.group_classes[instr.group_or_pipe].stride == 1;
    }
    void note_root(const Instr& instr)
    {
        if (roots(instr))
            root_ = instr;
    }

    // Builds a stretch from instruction i on. Gives where to go on.
    std::uint32_t build(const Instr& root, std::uint32_t i)
    {
        builder_.begin(root);
        taken_.clear();
        while (i < code_.instrs.size() && !root_) {
            const Instr& instr = code_.instrs[i];
            if (roots(instr) && instr.lane_class != root.lane_class)
                break;
            const StretchBuilder::Verdict verdict = builder_.classify(instr);
            if (verdict == StretchBuilder::Verdict::behind)
                break;
            if (verdict == StretchBuilder::Verdict::inside) {
                builder_.append(instr);
                taken_.push_back(i);
            }
            // A collective that is not in the stretch is of the same lanes, but does not follow
            // from its root.
            if (verdict == StretchBuilder::Verdict::before || taken_.size() >= long_enough)
                note_root(instr);
            ++i;
        }
        if (taken_.size() > too_short)
            add(builder_.finish(taken_.back()));
        else
            builder_.discard();
        return i;
    }

    void add(Stretch stretch)
    {
        put_together();
        stretch.instr_count = static_cast<std::uint32_t>(taken_.size());
        stretch.instr_first = taken_.back() + 1 - stretch.instr_count;
        stretch.pattern =
            known_.try_emplace(builder_.signature(), stretches_.patterns).first->second;
        stretches_.patterns = std::max(stretches_.patterns, stretch.pattern + 1);
        stretches_.all.push_back(stretch);
    }

    // Moves what lies between the instructions of the stretch in front of them.
    void put_together()
    {
        const std::uint32_t first = taken_.front();
        const std::uint32_t last = taken_.back();
        if (last - first + 1 == taken_.size())
            return;
        moved_.resize(code_.instrs.size());
        std::fill(moved_.begin() + first, moved_.begin() + last + 1, last);
        stretch_instrs_.clear();
        std::uint32_t to = first;
        for (std::uint32_t i = first; i <= last; ++i)
            if (i == taken_[stretch_instrs_.size()])
                stretch_instrs_.push_back(code_.instrs[i]);
            else
                code_.instrs[to++] = code_.instrs[i];
        std::copy(stretch_instrs_.begin(), stretch_instrs_.end(), code_.instrs.begin() + to);
    }

    // Drops the patterns that are not worth learning; the others get new numbers.
    void drop_rare()
    {
        std::vector<std::uint32_t> times(stretches_.patterns);
        for (const Stretch& stretch : stretches_.all)
            ++times[stretch.pattern];
        std::erase_if(stretches_.all, [&](const Stretch& stretch) {
            return times[stretch.pattern] * steps_ < few_times;
        });
        std::uint32_t patterns = 0;
        for (std::uint32_t& number : times)
            number = number * steps_ < few_times ? none : patterns++;
        for (Stretch& stretch : stretches_.all)
            stretch.pattern = times[stretch.pattern];
        stretches_.patterns = patterns;
    }

    const LaneClasses& classes_;
    StepCode& code_;
    std::uint32_t steps_;
    Stretches stretches_;
    StretchBuilder builder_;
    std::optional<Instr> root_;         // the collective that the next stretch starts from
    std::vector<std::uint32_t> taken_;  // by the stretch at hand
    std::vector<Instr> stretch_instrs_; // of it
    std::vector<std::uint32_t> moved_;  // by instruction: no later than there it is now
    std::unordered_map<Signature, std::uint32_t, SignatureHash> known_;
};

} // namespace

Stretches find_stretches(const LaneClasses& lane_classes, StepCode& code, std::uint32_t steps)
{
    return StretchFinder(lane_classes, code, steps).find();
}

} // namespace trainyard::engine::replay
