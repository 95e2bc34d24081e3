// Allocates columns to values, as a compiler allocates registers.

#include "sim/engine/replay/slices.h"

#include <numeric>

namespace trainyard::engine::replay {

namespace {

class ColumnAllocator {
public:
    ColumnAllocator(StepCode& code, const LaneClasses& lane_classes)
        : code_(code), free_(lane_classes.all.size())
    {
        code.slots.assign(lane_classes.all.size(), 0);
    }

    void allocate(const Slices& slices) &&
    {
        for (const Inputs& in : code_.inputs)
            for_each_value(in, [&](Value value) { give_column(value); });
        sort_by_end();
        for (const InstrRange& range : slices.ranges)
            for (std::uint32_t i = range.first; i < range.end; ++i)
                allocate_written(i, range);
    }

private:
    // Sorts values by the instruction that uses them last.
    void sort_by_end()
    {
        const std::size_t instrs = code_.instrs.size();
        end_first_.assign(instrs + 1, 0);
        for (const ValueInfo& info : code_.values)
            if (info.last_use != always)
                ++end_first_[info.last_use];
        std::inclusive_scan(end_first_.begin(), end_first_.end(), end_first_.begin());
        ending_.resize(end_first_.back());
        for (Value value = static_cast<Value>(code_.values.size()); value-- > 0;)
            if (const std::uint32_t at = code_.values[value].last_use; at != always)
                ending_[--end_first_[at]] = value;
    }

    void allocate_written(std::uint32_t i, const InstrRange& range)
    {
        const Instr& instr = code_.instrs[i];
        for (std::uint32_t w = 0; w < instr.write_count; ++w) {
            const Value value = instr.write_first + w;
            code_.values[value].in_slice = range.sliced && code_.values[value].last_use < range.end;
            give_column(value);
        }
        for (std::uint32_t e = end_first_[i]; e < end_first_[i + 1]; ++e) {
            const ValueInfo& info = code_.values[ending_[e]];
            if (info.slot != none)
                free_of(info).push_back(info.slot);
        }
    }

    std::vector<std::uint32_t>& free_of(const ValueInfo& info)
    {
        return info.in_slice ? free_in_slice_ : free_[info.lane_class];
    }

    void give_column(Value value)
    {
        ValueInfo& info = code_.values[value];
        std::vector<std::uint32_t>& free = free_of(info);
        if (free.empty()) {
            info.slot = info.in_slice ? code_.slice_slots++ : code_.slots[info.lane_class]++;
            return;
        }
        info.slot = free.back();
        free.pop_back();
    }

    StepCode& code_;
    std::vector<std::uint32_t> end_first_; // by instruction, and the end: into ending_
    std::vector<Value> ending_;
    std::vector<std::vector<std::uint32_t>> free_; // by lane class
    std::vector<std::uint32_t> free_in_slice_;
};

} // namespace

void allocate_columns(StepCode& code, const LaneClasses& lane_classes, const Slices& slices)
{
    ColumnAllocator(code, lane_classes).allocate(slices);
}

} // namespace trainyard::engine::replay
