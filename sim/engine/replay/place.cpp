#include "sim/engine/replay/compose.h"

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

    void place(const std::vector<Value>& kept) &&
    {
        for (std::uint32_t i = 0; i < tape_.instrs.size(); ++i)
            note_uses(i);
        for_each_last_use(tape_, [&](std::uint32_t list, std::uint32_t rival, std::uint32_t i) {
            for_each_value(tape_, tape_.rivals[list][rival],
                           [&](Value value) { last_use_[value] = std::max(last_use_[value], i); });
        });
        // What comes in keeps its column: at the end of the step it is written from outside.
        for (const Inputs& in : tape_.inputs) {
            for (const Value value : {in.lane_start, in.opened, in.base})
                give_column(value, always);
            for (const Value value : in.stream_ends)
                give_column(value, always);
            for (const auto& [op, value] : in.ends)
                give_column(value, always);
            for (const auto& [from, value] : in.rivals)
                give_column(value, always);
        }
        for (const Carry& carry : tape_.carries)
            last_use_[carry.from] = always;
        for (const Value value : kept)
            last_use_[value] = always;
        // By instruction the values that end there, as chains.
        std::vector<Value> first(tape_.instrs.size(), none);
        std::vector<Value> next(last_use_.size(), none);
        for (Value value = static_cast<Value>(last_use_.size()); value-- > 0;)
            if (last_use_[value] != always)
                next[value] = std::exchange(first[last_use_[value]], value);
        for (std::uint32_t i = 0; i < tape_.instrs.size(); ++i) {
            const Instr& instr = tape_.instrs[i];
            for (std::uint32_t w = 0; w < instr.write_count; ++w)
                give_column(tape_.writes[instr.write_first + w], 0);
            for (Value value = first[i]; value != none; value = next[value]) {
                const ValueInfo& info = tape_.values[value];
                if (info.slot != none)
                    free_[info.cohort].push_back(info.slot);
            }
        }
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

    void give_column(Value value, std::uint32_t last_use)
    {
        ValueInfo& info = tape_.values[value];
        if (last_use == always)
            last_use_[value] = always;
        auto& free = free_[info.cohort];
        if (free.empty()) {
            info.slot = tape_.slots[info.cohort]++;
            return;
        }
        info.slot = free.back();
        free.pop_back();
    }

    Tape& tape_;
    std::vector<std::uint32_t> last_use_; // by value: instruction
    std::vector<std::vector<std::uint32_t>> free_;
};

} // namespace

void place_values(Tape& tape, const Cohorts& cohorts, const std::vector<Value>& kept)
{
    Placer(tape, cohorts).place(kept);
}

} // namespace trainyard::engine::replay
