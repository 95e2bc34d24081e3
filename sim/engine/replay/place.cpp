#include "sim/engine/replay/place.h"

#include <numeric>

namespace trainyard::engine::replay {

namespace {

class Placer {
public:
    Placer(Tape& tape, const Cohorts& cohorts) : tape_(tape), free_(cohorts.all.size())
    {
        tape.slots.assign(cohorts.all.size(), 0);
    }

    void place(const Slices& slices) &&
    {
        for (const Inputs& in : tape_.inputs)
            for_each_value(in, [&](Value value) { give_column(value); });
        sort_by_end();
        for (const Run& run : slices.runs)
            for (std::uint32_t i = run.first; i < run.end; ++i)
                place_instr(i, run);
    }

private:
    // Values by the instruction that they end with.
    void sort_by_end()
    {
        const std::size_t instrs = tape_.instrs.size();
        end_first_.assign(instrs + 1, 0);
        for (const ValueInfo& info : tape_.values)
            if (info.last_use != always)
                ++end_first_[info.last_use];
        std::inclusive_scan(end_first_.begin(), end_first_.end(), end_first_.begin());
        ending_.resize(end_first_.back());
        for (Value value = static_cast<Value>(tape_.values.size()); value-- > 0;)
            if (const std::uint32_t at = tape_.values[value].last_use; at != always)
                ending_[--end_first_[at]] = value;
    }

    void place_instr(std::uint32_t i, const Run& run)
    {
        const Instr& instr = tape_.instrs[i];
        for (std::uint32_t w = 0; w < instr.write_count; ++w) {
            const Value value = instr.write_first + w;
            tape_.values[value].in_slice = run.sliced && tape_.values[value].last_use < run.end;
            give_column(value);
        }
        for (std::uint32_t e = end_first_[i]; e < end_first_[i + 1]; ++e) {
            const ValueInfo& info = tape_.values[ending_[e]];
            if (info.slot != none)
                free_of(info).push_back(info.slot);
        }
    }

    std::vector<std::uint32_t>& free_of(const ValueInfo& info)
    {
        return info.in_slice ? free_in_slice_ : free_[info.cohort];
    }

    void give_column(Value value)
    {
        ValueInfo& info = tape_.values[value];
        std::vector<std::uint32_t>& free = free_of(info);
        if (free.empty()) {
            info.slot = info.in_slice ? tape_.slice_slots++ : tape_.slots[info.cohort]++;
            return;
        }
        info.slot = free.back();
        free.pop_back();
    }

    Tape& tape_;
    std::vector<std::uint32_t> end_first_; // by instruction, and the end: into ending_
    std::vector<Value> ending_;
    std::vector<std::vector<std::uint32_t>> free_; // by cohort
    std::vector<std::uint32_t> free_in_slice_;
};

} // namespace

void place_values(Tape& tape, const Cohorts& cohorts, const Slices& slices)
{
    Placer(tape, cohorts).place(slices);
}

} // namespace trainyard::engine::replay
