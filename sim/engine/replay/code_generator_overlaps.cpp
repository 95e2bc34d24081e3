// The transfers that overlap compute and slow it.

#include "sim/engine/replay/code_generator.h"

#include <algorithm>

namespace trainyard::engine::replay {

// The parts of an exchange are one kernel, so that the largest share counts.
const PerLane& CodeGenerator::resident_of(std::uint32_t c, const FlatOp& op)
{
    if (op.part_count == 1)
        return tables_.load(c, kind(c).parts[op.part_first]).resident;
    Column most(classes_.all[c].lanes.size());
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PerLane& share = tables_.load(c, kind(c).parts[p]).resident;
        for (std::size_t i = 0; i < most.size(); ++i)
            most[i] = std::max(most[i], share.of(i));
    }
    return tables_.keep({0, std::move(most)});
}

// Calls `visit` with the loads of a transfer, as far as its times are known so far.
template <class Visit>
void CodeGenerator::for_each_load(std::uint32_t c, std::uint32_t overlap, const Visit& visit)
{
    const FlatOp& op = kind(c).ops[overlap];
    const OpValues& values = code().ops[c][overlap];
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
        const PartValues& times = code().parts[c][p];
        const TransferLoad& load = tables_.load(c, part);
        if (part.direction == Direction::send)
            offer({times.begin, times.end, &load.latency, &load.traffic});
    }
}

// Adds what may overlap a compute op: transfers that are over by now in this order, and of each
// stream at most one that has begun.
void CodeGenerator::add_overlap_set(std::uint32_t c, std::uint32_t o)
{
    last().extra = static_cast<std::uint32_t>(code().overlap_sets.size());
    OverlapSet set;
    set.load_first = static_cast<std::uint32_t>(code().loads.size());
    set.range_first = static_cast<std::uint32_t>(code().ranges.size());
    const auto over = precedence_[c].at_start(o);
    const auto over_before = precedence_[c].before_at_start(o);
    for (std::uint32_t k = 0; k < slowing_[c].size(); ++k) {
        const SlowingStream& stream = slowing_[c][k];
        if (stream.stream == precedence_[c].stream_of(o))
            continue;
        const auto done = static_cast<std::uint32_t>(code().overlaps[stream.list].size());
        if (const std::uint32_t first = stream.count_before[over[stream.stream]]; first < done)
            code().ranges.push_back({stream.list, first, done});
        if (done < stream.ops.size())
            for_each_load(c, stream.ops[done], [&](const Load& load) {
                if (load.from == none)
                    return;
                code().loads.push_back(load);
                use(load.from);
                if (load.to != none)
                    use(load.to);
            });
        if (const std::uint32_t first = stream.count_before[over_before[stream.stream]];
            first < stream.ops.size())
            previous_overlaps_.push_back(
                {static_cast<std::uint32_t>(code().instrs.size() - 1), c, k, first});
    }
    set.load_count = static_cast<std::uint32_t>(code().loads.size()) - set.load_first;
    set.range_count = static_cast<std::uint32_t>(code().ranges.size()) - set.range_first;
    code().overlap_sets.push_back(set);
}

void CodeGenerator::add_overlap(std::uint32_t c, std::uint32_t o)
{
    if (slows_[c].empty() || slows_[c][o] == 0)
        return;
    const auto stream =
        std::find_if(slowing_[c].begin(), slowing_[c].end(), [&](const SlowingStream& slowing) {
            return slowing.stream == precedence_[c].stream_of(o);
        });
    if (stream == slowing_[c].end())
        return;
    const OpValues& values = code().ops[c][o];
    Overlap overlap{values.start, values.end, static_cast<std::uint32_t>(code().loads.size())};
    for_each_load(c, o, [&](const Load& load) { code().loads.push_back(load); });
    overlap.load_count = static_cast<std::uint32_t>(code().loads.size()) - overlap.load_first;
    code().overlaps[stream->list].push_back(overlap);
}

// Adds the transfers of the step before that may overlap compute. Their times become inputs once
// all of them have values.
void CodeGenerator::add_previous_overlaps()
{
    for (const PreviousOverlap& previous : previous_overlaps_) {
        SlowingStream& stream = slowing_[previous.lane_class][previous.slowing];
        stream.first_previous = std::min(stream.first_previous, previous.first);
    }
    for (std::uint32_t c = 0; c < slowing_.size(); ++c)
        for (SlowingStream& stream : slowing_[c])
            if (stream.first_previous != none)
                carry_over(c, stream);
    for (const PreviousOverlap& previous : previous_overlaps_) {
        const SlowingStream& stream = slowing_[previous.lane_class][previous.slowing];
        OverlapSet& set = code().overlap_sets[code().instrs[previous.instr].extra];
        const auto first = static_cast<std::uint32_t>(code().ranges.size());
        for (std::uint32_t r = 0; r < set.range_count; ++r)
            code().ranges.push_back(code().ranges[set.range_first + r]);
        code().ranges.push_back(
            {stream.previous_list, previous.first - stream.first_previous,
             static_cast<std::uint32_t>(stream.ops.size()) - stream.first_previous});
        set.range_first = first;
        ++set.range_count;
    }
}

void CodeGenerator::carry_over(std::uint32_t c, SlowingStream& stream)
{
    stream.previous_list = static_cast<std::uint32_t>(code().overlaps.size());
    std::vector<Overlap> list(code().overlaps[stream.list].begin() + stream.first_previous,
                              code().overlaps[stream.list].end());
    for (Overlap& overlap : list) {
        const std::uint32_t first = overlap.load_first;
        overlap.start = carry_over(c, overlap.start);
        overlap.end = carry_over(c, overlap.end);
        overlap.load_first = static_cast<std::uint32_t>(code().loads.size());
        for (std::uint32_t l = 0; l < overlap.load_count; ++l) {
            Load load = code().loads[first + l];
            load.from = carry_over(c, load.from);
            load.to = carry_over(c, load.to);
            code().loads.push_back(load);
        }
    }
    code().overlaps.push_back(std::move(list));
}

Value CodeGenerator::carry_over(std::uint32_t c, Value from)
{
    auto& overlaps = code().inputs[c].overlaps;
    const auto found = overlaps.find(from);
    if (found != overlaps.end())
        return found->second;
    const Value to = value(code().values[from].lane_class);
    overlaps.emplace(from, to);
    code().carries.push_back({from, to});
    return to;
}

} // namespace trainyard::engine::replay
