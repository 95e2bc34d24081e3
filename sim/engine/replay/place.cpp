#include "sim/engine/replay/place.h"

#include <algorithm>
#include <utility>

namespace trainyard::engine::replay {

namespace {

constexpr std::uint32_t always = 0xffffffff;

class Placer {
public:
    Placer(Tape& tape, const Cohorts& cohorts)
        : tape_(tape), last_use_(tape.values.size(), 0), free_(cohorts.all.size())
    {
        tape.slots.assign(cohorts.all.size(), 0);
    }

    void place(const Slices& slices, const std::vector<Value>& kept) &&
    {
        for (std::uint32_t i = 0; i < tape_.instrs.size(); ++i)
            note_uses(i);
        for_each_last_use(tape_, [&](std::uint32_t list, std::uint32_t rival, std::uint32_t i) {
            for_each_value(tape_, tape_.rivals[list][rival],
                           [&](Value value) { last_use_[value] = std::max(last_use_[value], i); });
        });
        for (const Carry& carry : tape_.carries)
            last_use_[carry.from] = always;
        for (const Value value : kept)
            last_use_[value] = always;
        // What comes in keeps its column: at the end of the step it is written from outside.
        for (const Inputs& in : tape_.inputs)
            for_each_value(in, [&](Value value) {
                last_use_[value] = always;
                give_column(value);
            });
        chain_ends();
        for (const Run& run : slices.runs)
            for (std::uint32_t i = run.first; i < run.end; ++i)
                place_instr(i, run);
    }

private:
    void note_uses(std::uint32_t i)
    {
        const Instr& instr = tape_.instrs[i];
        for (std::uint32_t r = 0; r < instr.read_count; ++r)
            last_use_[tape_.reads[instr.read_first + r]] = i;
        for (std::uint32_t w = 0; w < instr.write_count; ++w)
            last_use_[tape_.writes[instr.write_first + w]] = i;
        if (instr.base != none)
            last_use_[instr.base] = i;
        for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
            const Charge& charge = tape_.charges[instr.charge_first + k];
            last_use_[charge.value] = i;
            if (charge.then != none)
                last_use_[charge.then] = i;
        }
        for (std::uint32_t l = 0; l < instr.load_count; ++l) {
            const Load& load = tape_.loads[instr.load_first + l];
            last_use_[load.from] = i;
            if (load.to != none)
                last_use_[load.to] = i;
        }
    }

    // By instruction the values that end there, as chains.
    void chain_ends()
    {
        first_ending_.assign(tape_.instrs.size(), none);
        next_ending_.assign(last_use_.size(), none);
        for (Value value = static_cast<Value>(last_use_.size()); value-- > 0;)
            if (last_use_[value] != always)
                next_ending_[value] = std::exchange(first_ending_[last_use_[value]], value);
    }

    void place_instr(std::uint32_t i, const Run& run)
    {
        const Instr& instr = tape_.instrs[i];
        for (std::uint32_t w = 0; w < instr.write_count; ++w) {
            const Value value = tape_.writes[instr.write_first + w];
            tape_.values[value].in_slice = run.sliced && last_use_[value] < run.end;
            give_column(value);
        }
        for (Value value = first_ending_[i]; value != none; value = next_ending_[value]) {
            const ValueInfo& info = tape_.values[value];
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
    std::vector<std::uint32_t> last_use_;          // by value: instruction
    std::vector<Value> first_ending_;              // by instruction
    std::vector<Value> next_ending_;               // by value
    std::vector<std::vector<std::uint32_t>> free_; // by cohort
    std::vector<std::uint32_t> free_in_slice_;
};

} // namespace

void place_values(Tape& tape, const Cohorts& cohorts, const Slices& slices,
                  const std::vector<Value>& kept)
{
    Placer(tape, cohorts).place(slices, kept);
}

} // namespace trainyard::engine::replay
