// What slows compute on the tape.

#include "sim/engine/replay/composer.h"

#include <algorithm>

namespace trainyard::engine::replay {

// The parts of an exchange are one kernel: the largest counts.
const Amount& Composer::resident_of(std::uint32_t c, const FlatOp& op)
{
    if (op.part_count == 1)
        return tables_.load(c, kind(c).parts[op.part_first]).resident;
    Column most(cohorts_.all[c].lanes.size());
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const Amount& share = tables_.load(c, kind(c).parts[p]).resident;
        for (std::size_t i = 0; i < most.size(); ++i)
            most[i] = std::max(most[i], share.of(i));
    }
    return tables_.keep({0, std::move(most)});
}

// The loads of a transfer, as far as its times are known so far.
template <class Visit>
void Composer::for_each_load(std::uint32_t c, std::uint32_t rival, const Visit& visit)
{
    const FlatOp& op = kind(c).ops[rival];
    const OpValues& values = tape().ops[c][rival];
    const auto offer = [&](const Load& load) {
        if (!load.share->zero())
            visit(load);
    };
    if (op.kind == OpKind::collective) {
        const TransferLoad& load = tables_.load(c, op);
        offer({values.start, values.end, nullptr, &load.resident});
        offer({values.begin, values.end, &load.latency, &load.traffic});
        return;
    }
    offer({values.start, values.end, nullptr, &resident_of(c, op)});
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartPlan& part = kind(c).parts[p];
        const PartValues& times = tape().parts[c][p];
        const TransferLoad& load = tables_.load(c, part);
        if (part.direction == Direction::send)
            offer({times.begin, times.end, &load.latency, &load.traffic});
    }
}

// What may run beside compute: transfers that are over by now in this order, and of each stream
// at most one that has begun.
void Composer::load(std::uint32_t c, std::uint32_t o)
{
    last().extra = static_cast<std::uint32_t>(tape().besides.size());
    Beside beside;
    beside.load_first = static_cast<std::uint32_t>(tape().loads.size());
    beside.range_first = static_cast<std::uint32_t>(tape().ranges.size());
    const auto over = known_[c].at_start(o);
    const auto over_before = known_[c].before_at_start(o);
    for (std::uint32_t k = 0; k < slowing_[c].size(); ++k) {
        const SlowingStream& stream = slowing_[c][k];
        if (stream.stream == known_[c].stream_of(o))
            continue;
        const auto done = static_cast<std::uint32_t>(tape().rivals[stream.list].size());
        if (const std::uint32_t first = stream.before[over[stream.stream]]; first < done)
            tape().ranges.push_back({stream.list, first, done});
        if (done < stream.ops.size())
            for_each_load(c, stream.ops[done], [&](const Load& load) {
                if (load.from == none)
                    return;
                tape().loads.push_back(load);
                use(load.from);
                if (load.to != none)
                    use(load.to);
            });
        if (const std::uint32_t first = stream.before[over_before[stream.stream]];
            first < stream.ops.size())
            before_.push_back({static_cast<std::uint32_t>(tape().instrs.size() - 1), c, k, first});
    }
    beside.load_count = static_cast<std::uint32_t>(tape().loads.size()) - beside.load_first;
    beside.range_count = static_cast<std::uint32_t>(tape().ranges.size()) - beside.range_first;
    tape().besides.push_back(beside);
}

void Composer::add_rival(std::uint32_t c, std::uint32_t o)
{
    if (slows_[c].empty() || slows_[c][o] == 0)
        return;
    const auto stream =
        std::find_if(slowing_[c].begin(), slowing_[c].end(), [&](const SlowingStream& slowing) {
            return slowing.stream == known_[c].stream_of(o);
        });
    if (stream == slowing_[c].end())
        return;
    const OpValues& values = tape().ops[c][o];
    Rival rival{values.start, values.end, static_cast<std::uint32_t>(tape().loads.size())};
    for_each_load(c, o, [&](const Load& load) { tape().loads.push_back(load); });
    rival.load_count = static_cast<std::uint32_t>(tape().loads.size()) - rival.load_first;
    tape().rivals[stream->list].push_back(rival);
}

// Rivals from the step before: once all times have values, those come in to the next.
void Composer::load_from_before()
{
    for (const Before& before : before_) {
        SlowingStream& stream = slowing_[before.cohort][before.slowing];
        stream.first_before = std::min(stream.first_before, before.first);
    }
    for (std::uint32_t c = 0; c < slowing_.size(); ++c)
        for (SlowingStream& stream : slowing_[c])
            if (stream.first_before != none)
                bring_over(c, stream);
    for (const Before& before : before_) {
        const SlowingStream& stream = slowing_[before.cohort][before.slowing];
        Beside& beside = tape().besides[tape().instrs[before.instr].extra];
        const auto first = static_cast<std::uint32_t>(tape().ranges.size());
        for (std::uint32_t r = 0; r < beside.range_count; ++r) {
            const RivalRange range = tape().ranges[beside.range_first + r];
            tape().ranges.push_back(range);
        }
        tape().ranges.push_back(
            {stream.list_before, before.first - stream.first_before,
             static_cast<std::uint32_t>(stream.ops.size()) - stream.first_before});
        beside.range_first = first;
        ++beside.range_count;
    }
}

void Composer::bring_over(std::uint32_t c, SlowingStream& stream)
{
    stream.list_before = static_cast<std::uint32_t>(tape().rivals.size());
    std::vector<Rival> list(tape().rivals[stream.list].begin() + stream.first_before,
                            tape().rivals[stream.list].end());
    for (Rival& rival : list) {
        const std::uint32_t first = rival.load_first;
        rival.start = bring_over(c, rival.start);
        rival.end = bring_over(c, rival.end);
        rival.load_first = static_cast<std::uint32_t>(tape().loads.size());
        for (std::uint32_t l = 0; l < rival.load_count; ++l) {
            Load load = tape().loads[first + l];
            load.from = bring_over(c, load.from);
            load.to = bring_over(c, load.to);
            tape().loads.push_back(load);
        }
    }
    tape().rivals.push_back(std::move(list));
}

Value Composer::bring_over(std::uint32_t c, Value from)
{
    auto& rivals = tape().inputs[c].rivals;
    const auto found = rivals.find(from);
    if (found != rivals.end())
        return found->second;
    const Value to = value(tape().values[from].cohort);
    rivals.emplace(from, to);
    tape().carries.push_back({from, to});
    return to;
}

} // namespace trainyard::engine::replay
