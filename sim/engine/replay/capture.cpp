#include "sim/engine/replay/capture.h"

namespace trainyard::engine::replay {

void Capture::want(std::uint32_t cohort, Value value)
{
    if (value == none)
        return;
    for (std::uint32_t k = first_[value]; k != none; k = kept_[k].next)
        if (kept_[k].cohort == cohort)
            return;
    kept_.push_back({cohort, first_[value], size_});
    first_[value] = static_cast<std::uint32_t>(kept_.size() - 1);
    size_ += lanes_[cohort].size();
}

void Capture::want_ops(std::uint32_t cohort)
{
    const Inputs& in = tape_.inputs[cohort];
    for (const Value value : {in.lane_start, in.opened, in.base})
        want(cohort, value);
    for (std::uint32_t o = 0; o < tape_.ops[cohort].size(); ++o)
        for_each_value(tape_, *cohorts_.all[cohort].kind, cohort, o,
                       [&](Value value) { want(cohort, value); });
}

void Capture::note_inputs(Player& player)
{
    times_.resize(size_);
    for (const Inputs& in : tape_.inputs)
        for (const Value value : {in.lane_start, in.opened, in.base})
            copy(player, value);
}

void Capture::note(Player& player, const Instr& instr)
{
    for (std::uint32_t w = 0; w < instr.write_count; ++w)
        copy(player, instr.write_first + w);
}

void Capture::copy(Player& player, Value value)
{
    for (std::uint32_t k = first_[value]; k != none; k = kept_[k].next) {
        const Time* column = player.column(value);
        Time* to = times_.data() + kept_[k].place;
        for (const std::uint32_t index : lanes_[kept_[k].cohort])
            *to++ = column[index];
    }
}

Time Capture::at(std::uint32_t cohort, Value value, std::size_t i) const
{
    if (value == none)
        return 0;
    for (std::uint32_t k = first_[value]; k != none; k = kept_[k].next)
        if (kept_[k].cohort == cohort)
            return times_[kept_[k].place + i];
    return 0;
}

} // namespace trainyard::engine::replay
