#include "sim/engine/replay/capture.h"

namespace trainyard::engine::replay {

void Capture::want(std::uint32_t cohort, Value value)
{
    if (value == none || lanes_[cohort].empty())
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
        want_op(cohort, o);
}

void Capture::want_op(std::uint32_t cohort, std::uint32_t o)
{
    const OpValues& values = tape_.ops[cohort][o];
    for (const Value value : {values.start, values.begin, values.device, values.end, values.left})
        want(cohort, value);
    const FlatOp& op = cohorts_.all[cohort].kind->ops[o];
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        for (const Value value : {tape_.parts[cohort][p].begin, tape_.parts[cohort][p].end})
            want(cohort, value);
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
        copy(player, tape_.writes[instr.write_first + w]);
}

std::vector<Value> Capture::values() const
{
    std::vector<Value> values;
    for (Value value = 0; value < first_.size(); ++value)
        if (first_[value] != none)
            values.push_back(value);
    return values;
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
