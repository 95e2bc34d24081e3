#include "sim/engine/ahead/runner.h"
#include "sim/engine/interference.h"
#include "sim/engine/scale.h"

#include <algorithm>

namespace trainyard::engine::ahead {

namespace {

// How long the work of a transfer drains.
SimTime moving_time(const TransferCost& cost, std::uint32_t scale)
{
    const Work work = scaled_work(cost, scale);
    return work.value == 0 ? SimTime(0) : time_to_finish(work, cost.ceiling);
}

// From its arrival on, how long nothing about a transfer changes that compute feels.
Time quiet_for(const TransferCost& cost, std::uint32_t scale)
{
    if (cost.traffic_share > 0)
        return cost.latency.value();
    return (cost.latency + moving_time(cost, scale)).value();
}

} // namespace

const TransferCost& Runner::collective_cost(std::uint32_t lane, const FlatOp& op) const
{
    const std::uint32_t variant =
        run_.binding.groups[run_.group_of(lane, op.group).value].variant;
    return run_.binding.costs.transfers[variant][op.cost.value];
}

const TransferCost& Runner::part_cost(std::uint32_t lane, const PartPlan& part) const
{
    const Peer& peer = run_.binding.lanes[lane].peers[part.peer.value];
    return run_.binding.costs.transfers[peer.variant][part.cost.value];
}

// SMs that the op's kernel holds; the parts of an exchange are one kernel.
std::uint32_t Runner::resident_share(std::uint32_t lane, const FlatOp& op) const
{
    if (op.kind == OpKind::collective)
        return collective_cost(lane, op).sm_share;
    std::uint32_t share = 0;
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        share = std::max(share, part_cost(lane, lanes_[lane].kind->parts[p]).sm_share);
    return share;
}

void Runner::join(std::uint32_t lane, std::uint32_t s, const FlatOp& op)
{
    StreamRun& stream = stream_at(lane, s);
    lanes_[lane].unsettled = true;
    stream.state = State::joined;
    stream.quiet = stream.start;
    if (interferes_ && lanes_[lane].kind->streams[s].kind == StreamKind::communication)
        load(lane, stream.start, resident_share(lane, op));
    if (op.kind == OpKind::collective)
        return join_collective(lane, s, op);
    stream.begin = stream.start;
    stream.end = stream.start;
    stream.quiet = never;
    stream.parts_left = op.part_count;
    if (op.part_count == 0)
        return finish_transfer(lane, s, stream.begin, stream.end, Bytes(0), LaneId::none());
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count && !gave_up_; ++p)
        join_message(lane, s, op, p);
}

// Whether a newcomer means the same transfer as those before it.
bool Runner::agree(Transfer& transfer, const TransferCost& cost, const FlatOp& op)
{
    if (transfer.cost == nullptr) {
        transfer.cost = &cost;
        transfer.label = op.label;
        return true;
    }
    const auto& labels = run_.program.labels;
    const bool same =
        (transfer.cost == &cost || *transfer.cost == cost) &&
        labels[transfer.label.value].collective == labels[op.label.value].collective;
    gave_up_ |= !same;
    return same;
}

void Runner::join_collective(std::uint32_t lane, std::uint32_t s, const FlatOp& op)
{
    StreamRun& stream = stream_at(lane, s);
    const std::uint32_t channel = table_.group_channel(run_.group_of(lane, op.group));
    const std::uint32_t per_step = lanes_[lane].kind->collectives_per_step[op.group.value];
    const std::uint32_t id = table_.find_or_add(channel, stream.step * per_step + op.ordinal);
    Transfer& transfer = run_.transfers[id];
    const TransferCost& cost = collective_cost(lane, op);
    if (!agree(transfer, cost, op))
        return;
    stream.next_member = transfer.first_member;
    transfer.first_member = run_.stream_index(lane, s);
    const SimTime arrival(stream.start);
    if (transfer.arrived == 0 || transfer.start < arrival)
        transfer.last_arriver = LaneId{lane};
    else if (transfer.start == arrival)
        transfer.last_arriver = std::min(transfer.last_arriver, LaneId{lane});
    transfer.start = std::max(transfer.start, arrival);
    const std::uint32_t scale = run_.scale_of(lane, op.scale);
    transfer.scale = transfer.arrived == 0 ? scale : std::max(transfer.scale, scale);
    if (++transfer.arrived == table_.members(channel))
        return complete(id);
    if (interferes_)
        stream.quiet = stream.start + quiet_for(cost, scale);
}

// All members have arrived.
void Runner::complete(std::uint32_t id)
{
    const Transfer transfer = run_.transfers[id];
    table_.release(id);
    const Time began = transfer.start.value();
    const Time end = (transfer.start + transfer.cost->latency +
                      moving_time(*transfer.cost, transfer.scale))
                         .value();
    for (std::uint32_t member = transfer.first_member; member != nobody && !gave_up_;) {
        const std::uint32_t lane = run_.lane_of(member);
        const std::uint32_t s = member - run_.stream_index(lane, 0);
        member = streams_[member].next_member;
        load_traffic(lane, s, *transfer.cost, began, end);
        finish_transfer(lane, s, began, end, transfer.cost->bytes, transfer.last_arriver);
        wake(lane);
    }
}

void Runner::join_message(std::uint32_t lane, std::uint32_t s, const FlatOp& op, std::uint32_t p)
{
    const LaneKind& kind = *lanes_[lane].kind;
    const PartPlan& part = kind.parts[p];
    StreamRun& stream = stream_at(lane, s);
    const std::uint32_t pipe =
        run_.compiled.lane_pipes[run_.compiled.lane_pipe_first[lane] + part.pipe];
    const std::uint32_t id = table_.find_or_add(
        table_.pipe_channel(pipe), stream.step * kind.parts_per_step[part.pipe] + part.ordinal);
    Transfer& transfer = run_.transfers[id];
    const TransferCost& cost = part_cost(lane, part);
    if (!agree(transfer, cost, op))
        return;
    const bool sends = part.direction == Direction::send;
    (sends ? transfer.sender : transfer.receiver) = run_.stream_index(lane, s);
    if (sends)
        transfer.scale = run_.scale_of(lane, op.scale);
    if (sends || !cost.eager)
        transfer.start = std::max(transfer.start, SimTime(stream.start));
    ++transfer.arrived;
    if (transfer.arrived == 2 || (sends && cost.eager))
        return begin_message(id);
    Time quiet = stream.start;
    if (sends)
        quiet += quiet_for(cost, transfer.scale);
    else if (!cost.eager)
        quiet += cost.latency.value();
    stream.quiet = std::min(stream.quiet, quiet);
}

// All who are needed have arrived, or a receiver to an eager message.
void Runner::begin_message(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    if (transfer.state == TransferState::gathering) {
        transfer.state = TransferState::delivered;
        transfer.settled = transfer.start + transfer.cost->latency +
                           moving_time(*transfer.cost, transfer.scale);
        end_part(transfer.sender, transfer, Direction::send);
    }
    if (transfer.receiver == nobody)
        return;
    end_part(transfer.receiver, transfer, Direction::receive);
    table_.release(id);
}

// All is known of one end of a message.
void Runner::end_part(std::uint32_t index, const Transfer& transfer, Direction direction)
{
    const std::uint32_t lane = run_.lane_of(index);
    const std::uint32_t s = index - run_.stream_index(lane, 0);
    StreamRun& stream = streams_[index];
    const FlatOp& op = head(lane, s);
    const Time began = std::max(stream.start, transfer.start.value());
    const Time end = std::max(stream.start, transfer.settled.value());
    stream.begin = std::max(stream.begin, began);
    stream.end = std::max(stream.end, end);
    if (measured(stream))
        note_part(lane, op, transfer, direction, {began, end});
    if (direction == Direction::send)
        load_traffic(lane, s, *transfer.cost, began, end);
    wake(lane);
    if (--stream.parts_left > 0)
        return;
    Bytes bytes{};
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartPlan& part = lanes_[lane].kind->parts[p];
        if (part.direction == Direction::send)
            bytes += part_cost(lane, part).bytes;
    }
    finish_transfer(lane, s, stream.begin, stream.end, bytes, LaneId::none());
}

// The times of the part that the message is to the head op of a lane.
void Runner::note_part(std::uint32_t lane, const FlatOp& op, const Transfer& transfer,
                       Direction direction, Span span)
{
    const LaneKind& kind = *lanes_[lane].kind;
    replay::LaneTimes& times = books_.times(lane);
    const std::uint32_t step = run_.steps - 1;
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartPlan& part = kind.parts[p];
        const std::uint32_t pipe =
            run_.compiled.lane_pipes[run_.compiled.lane_pipe_first[lane] + part.pipe];
        const bool same = part.direction == direction &&
                          table_.pipe_channel(pipe) == transfer.channel &&
                          step * kind.parts_per_step[part.pipe] + part.ordinal == transfer.sequence;
        if (!same)
            continue;
        times.part_begin[p] = span.begin;
        times.part_end[p] = span.end;
    }
}

// What data that moves takes of a lane that it leaves.
void Runner::load_traffic(std::uint32_t lane, std::uint32_t s, const TransferCost& cost,
                          Time began, Time end)
{
    const Time moves = began + cost.latency.value();
    if (!interferes_ || moves >= end ||
        lanes_[lane].kind->streams[s].kind != StreamKind::communication)
        return;
    load(lane, moves, traffic_of(cost, cost.ceiling));
    load(lane, end, -std::int64_t{traffic_of(cost, cost.ceiling)});
}

// All is known of the transfer op at the head of a stream.
void Runner::finish_transfer(std::uint32_t lane, std::uint32_t s, Time began, Time end,
                             Bytes bytes, LaneId last_arriver)
{
    const FlatOp& op = head(lane, s);
    StreamRun& stream = stream_at(lane, s);
    if (interferes_ && lanes_[lane].kind->streams[s].kind == StreamKind::communication)
        load(lane, end, -std::int64_t{resident_share(lane, op)});
    if (measured(stream)) {
        books_.times(lane).begin[op_index(lane, op)] = began;
        if (interferes_)
            note_loads(lane, op);
        books_.count_transfer(lane, op, SimTime(stream.start), SimTime(began), SimTime(end),
                              bytes);
    }
    record(lane, s, SimTime(began), bytes, last_arriver, end);
    finish(lane, s, end);
}

// What the op takes of the device, for the account of the measured step.
void Runner::note_loads(std::uint32_t lane, const FlatOp& op)
{
    replay::LaneTimes& times = books_.times(lane);
    const auto load_of = [](const TransferCost& cost) {
        return replay::LaneLoad{cost.sm_share, cost.latency.value(),
                                traffic_of(cost, cost.ceiling)};
    };
    replay::LaneLoad& load = times.loads[op_index(lane, op)];
    if (op.kind == OpKind::collective)
        load = load_of(collective_cost(lane, op));
    else
        load = {resident_share(lane, op), 0, 0};
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        times.part_loads[p] = load_of(part_cost(lane, lanes_[lane].kind->parts[p]));
}

} // namespace trainyard::engine::ahead
