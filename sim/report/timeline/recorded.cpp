#include "sim/report/timeline/recorded.h"

#include "sim/report/timeline/record_queues.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

using OpsByStream = std::map<StreamId, std::vector<PlacedOp>>;

OpsByStream ops_of(const Program& program, const Role& role)
{
    OpsByStream streams;
    for (const BlockUse& use : role.order) {
        const Block& block = program.blocks[use.block.value];
        for (const Op& op : block.ops)
            streams[op.stream].push_back({&op, &block});
    }
    return streams;
}

bool agree(const std::vector<OpRecord>& records, std::span<const std::uint32_t> indices,
           const std::vector<PlacedOp>& ops)
{
    return std::equal(indices.begin(), indices.end(), ops.begin(), ops.end(),
                      [&](std::uint32_t index, const PlacedOp& placed) {
                          return records[index].label == placed.op->label;
                      });
}

} // namespace

std::set<LaneId> first_lanes(const Binding& binding)
{
    std::set<LaneId> lanes;
    std::set<RoleId> seen;
    for (std::size_t i = 0; i < binding.lanes.size(); ++i)
        if (seen.insert(binding.lanes[i].role).second)
            lanes.insert(make_id<LaneId>(i));
    return lanes;
}

RecordRequest default_trace_lanes(const Outcome& outcome)
{
    std::set<LaneId> lanes = first_lanes(*outcome.binding);
    lanes.insert(outcome.result->critical_lane);
    const std::size_t steps = outcome.result->step_ends.size();
    RecordRequest request;
    request.lane = [lanes = std::move(lanes)](LaneId lane) { return lanes.contains(lane); };
    request.first_step = static_cast<std::uint16_t>(steps > 0 ? steps - 1 : 0);
    return request;
}

RecordRequest picture_lanes(const Outcome& outcome, std::uint64_t most_ops)
{
    RecordRequest request = default_trace_lanes(outcome);
    if (outcome.result->ops / std::max<std::size_t>(1, outcome.result->step_ends.size()) <=
        most_ops)
        request.lane = [](LaneId) { return true; };
    return request;
}

std::uint64_t ops_in_step(const Program& program, const Binding& binding,
                          const std::function<bool(LaneId)>& lanes)
{
    std::vector<std::uint64_t> of_role(program.roles.size(), 0);
    for (std::size_t role = 0; role < of_role.size(); ++role)
        for (const BlockUse& use : program.roles[role].order)
            of_role[role] += program.blocks[use.block.value].ops.size();
    std::uint64_t ops = 0;
    for (std::size_t lane = 0; lane < binding.lanes.size(); ++lane)
        if (lanes(make_id<LaneId>(lane)))
            ops += of_role[binding.lanes[lane].role.value];
    return ops;
}

std::vector<RankId> representative_ranks(const Outcome& outcome, std::size_t most_ops)
{
    std::map<LaneId, std::size_t> ops;
    for (const OpRecord& record : outcome.result->records)
        if (record.stream != host_stream)
            ++ops[record.lane];
    std::vector<LaneId> order;
    if (ops.contains(outcome.result->critical_lane))
        order.push_back(outcome.result->critical_lane);
    for (const auto& [lane, count] : ops)
        if (lane != outcome.result->critical_lane)
            order.push_back(lane);
    std::vector<RankId> ranks;
    std::size_t taken = 0;
    for (const LaneId lane : order) {
        taken += ops.at(lane);
        if (!ranks.empty() && taken > most_ops)
            break;
        ranks.push_back(outcome.binding->lanes[lane.value].rank);
    }
    return ranks;
}

std::vector<PlacedOp> place_records(const Plan& plan, const Binding& binding,
                                    const std::vector<OpRecord>& records)
{
    std::vector<PlacedOp> placed(records.size());
    std::map<RoleId, OpsByStream> by_role;
    const RecordQueues queues = queues_of(records);
    for (const RecordQueue& queue : queues.queues) {
        const auto indices = queues.of(queue);
        const RoleId role = binding.lanes[queue.lane.value].role;
        auto found = by_role.find(role);
        if (found == by_role.end())
            found =
                by_role.emplace(role, ops_of(plan.program, plan.program.roles[role.value])).first;
        const std::vector<PlacedOp>& ops = found->second[queue.stream];
        if (!agree(records, indices, ops))
            continue;
        for (std::size_t k = 0; k < indices.size(); ++k)
            placed[indices[k]] = ops[k];
    }
    return placed;
}

std::vector<RecordedMessage> messages(const Binding& binding, const std::vector<OpRecord>& records,
                                      const std::vector<PlacedOp>& placed)
{
    using Channel = std::tuple<LaneId, LaneId, std::uint16_t, std::uint8_t>; // from, to, step
    std::map<Channel, std::deque<std::size_t>> sends;
    std::map<Channel, std::deque<std::size_t>> receives;
    std::vector<std::size_t> order; // exchanges
    for (std::size_t i = 0; i < records.size(); ++i)
        if (placed[i].op != nullptr && placed[i].op->kind == OpKind::exchange)
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return records[a].issued < records[b].issued;
    });
    for (const std::size_t i : order) {
        const PlacedOp& at = placed[i];
        const LaneId lane = records[i].lane;
        for (std::uint16_t p = 0; p < at.op->part_count; ++p) {
            const ExchangePart& part =
                at.block->parts[static_cast<std::size_t>(at.op->part_first + p)];
            const LaneId peer = binding.lanes[lane.value].peers[part.peer.value].lane;
            if (part.direction == Direction::send)
                sends[{lane, peer, records[i].step, part.channel}].push_back(i);
            else
                receives[{peer, lane, records[i].step, part.channel}].push_back(i);
        }
    }
    std::vector<RecordedMessage> matched;
    for (const auto& [channel, sent] : sends) {
        const std::deque<std::size_t>& received = receives[channel];
        for (std::size_t k = 0; k < std::min(sent.size(), received.size()); ++k)
            matched.push_back({sent[k], received[k]});
    }
    return matched;
}

namespace {

// What an op changes at one of its moments.
MemoryPoint change_of(const Program& program, const MemoryEffect& effect, SimTime time,
                      Moment moment)
{
    MemoryPoint change{time, moment == Moment::start ? effect.at_start : effect.at_end, {}};
    for (std::uint32_t i = 0; i < effect.event_count; ++i) {
        const MemoryEvent& event = program.memory_events[effect.event_first + i];
        const Tensor& tensor = program.tensors[event.tensor.value];
        if (event.moment == moment)
            change.kinds[static_cast<std::size_t>(tensor.kind)] +=
                event.action == MemoryAction::allocate ? tensor.bytes : -tensor.bytes;
    }
    return change;
}

MemoryPoint held_always(const Program& program, const Role& role)
{
    MemoryPoint held{SimTime(), role.static_memory, {}};
    for (const auto* list : {&role.held, &role.held_from_update})
        for (const TensorId id : *list) {
            const Tensor& tensor = program.tensors[id.value];
            held.kinds[static_cast<std::size_t>(tensor.kind)] += tensor.bytes;
        }
    return held;
}

} // namespace

std::vector<MemoryPoint> memory_over_time(const Outcome& outcome,
                                          const std::vector<PlacedOp>& placed, LaneId lane,
                                          std::uint16_t step)
{
    const Program& program = outcome.plan->program;
    const std::vector<OpRecord>& records = outcome.result->records;
    std::vector<MemoryPoint> changes;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (records[i].lane != lane || records[i].step != step)
            continue;
        if (placed[i].op == nullptr)
            return {};
        if (!placed[i].op->memory.valid())
            continue;
        const MemoryEffect& effect = program.memory_effects[placed[i].op->memory.value];
        changes.push_back(change_of(program, effect, records[i].start, Moment::start));
        changes.push_back(change_of(program, effect, records[i].end, Moment::end));
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const MemoryPoint& a, const MemoryPoint& b) { return a.time < b.time; });
    MemoryPoint held =
        held_always(program, program.roles[outcome.binding->lanes[lane.value].role.value]);
    std::vector<MemoryPoint> points;
    for (const MemoryPoint& change : changes) {
        held.time = change.time;
        held.bytes += change.bytes;
        for (std::size_t k = 0; k < held.kinds.size(); ++k)
            held.kinds[k] += change.kinds[k];
        if (!points.empty() && points.back().time == change.time)
            points.back() = held;
        else
            points.push_back(held);
    }
    return points;
}

std::vector<LaneMemory> memory_of_lanes(const Outcome& outcome)
{
    const std::vector<OpRecord>& records = outcome.result->records;
    const std::vector<PlacedOp> placed = place_records(*outcome.plan, *outcome.binding, records);
    std::set<LaneId> lanes;
    std::uint16_t step = 0;
    for (const OpRecord& record : records) {
        lanes.insert(record.lane);
        step = std::max(step, record.step);
    }
    std::vector<LaneMemory> out;
    for (const LaneId lane : lanes)
        out.push_back({lane, memory_over_time(outcome, placed, lane, step)});
    return out;
}

} // namespace trainyard
