#include "sim/engine/ahead/runner.h"
#include "sim/engine/slowdown.h"

#include <algorithm>

namespace trainyard::engine::ahead {

namespace {

// How long the work of a transfer drains.
SimTime moving_time(const TransferCost& cost, std::uint32_t scale)
{
    const Work work = scaled_work(cost, scale);
    return work.value == 0 ? SimTime(0) : time_to_finish(work, cost.ceiling);
}

// When a transfer is over that begins at `begin`.
Time end_of(const TransferCost& cost, std::uint32_t scale, Time begin)
{
    return begin + (cost.latency + moving_time(cost, scale)).value();
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
    const std::uint32_t variant = run_.binding.groups[run_.group_of(lane, op.group).value].variant;
    return run_.binding.costs.transfers[variant][op.cost.value];
}

const TransferCost& Runner::part_cost(std::uint32_t lane, const PartPlan& part) const
{
    const Peer& peer = run_.binding.lanes[lane].peers[part.peer.value];
    return run_.binding.costs.transfers[peer.variant][part.cost.value];
}

void Runner::join(StreamRun& stream)
{
    lanes_[stream.lane].unsettled = true;
    stream.state = State::joined;
    stream.quiet = stream.start;
    if (stream.op->kind == OpKind::collective)
        join_collective(stream);
    else
        join_exchange(stream);
}

// A communication kernel is resident from its arrival on.
void Runner::make_resident(StreamRun& stream, std::uint32_t sm_share)
{
    stream.resident = interferes_ && stream.communicates ? sm_share : 0;
    load(stream, stream.start, stream.resident);
}

// Whether a newcomer means the same transfer as those before it.
bool Runner::matches(Transfer& transfer, const TransferCost& cost, const FlatOp& op)
{
    if (transfer.cost == nullptr) {
        transfer.cost = &cost;
        transfer.label = op.label;
        return true;
    }
    const auto& labels = run_.program.labels;
    const bool same = (transfer.cost == &cost || *transfer.cost == cost) &&
                      labels[transfer.label.value].collective == labels[op.label.value].collective;
    gave_up_ |= !same;
    return same;
}

void Runner::join_collective(StreamRun& stream)
{
    const FlatOp& op = *stream.op;
    const TransferCost& cost = collective_cost(stream.lane, op);
    make_resident(stream, cost.sm_share);
    const LaneId lane{stream.lane};
    const std::uint32_t scale = run_.scale_of(stream.lane, op.scale);
    const std::uint32_t channel = table_.group_channel(run_.group_of(stream.lane, op.group));
    if (table_.members(channel) == 1)
        return finish_collective(stream,
                                 {cost, {stream.start, end_of(cost, scale, stream.start)}, lane});
    if (watched(stream)) // what waits for others goes another way every time
        lanes_[stream.lane].learned[lanes_[stream.lane].watch.passage->shape].state =
            PassageTimes::State::given_up;
    const std::uint32_t per_step = lanes_[stream.lane].kind->collectives_per_step[op.group.value];
    const std::uint32_t id = table_.find_or_add(channel, stream.step * per_step + op.ordinal);
    Transfer& transfer = run_.transfers[id];
    if (!matches(transfer, cost, op))
        return;
    stream.next_member = transfer.first_member;
    transfer.first_member = number_of(stream);
    const SimTime arrival(stream.start);
    if (transfer.arrived == 0 || transfer.start < arrival)
        transfer.last_arriver = lane;
    else if (transfer.start == arrival)
        transfer.last_arriver = std::min(transfer.last_arriver, lane);
    transfer.start = std::max(transfer.start, arrival);
    transfer.scale = transfer.arrived == 0 ? scale : std::max(transfer.scale, scale);
    if (++transfer.arrived == table_.members(channel))
        return complete(id);
    if (interferes_)
        stream.quiet = stream.start + quiet_for(cost, scale);
}

// Ends a collective all of whose members have arrived.
void Runner::complete(std::uint32_t id)
{
    const Transfer& transfer = run_.transfers[id];
    const Time began = transfer.start.value();
    const CollectiveResult collective{*transfer.cost,
                                      {began, end_of(*transfer.cost, transfer.scale, began)},
                                      transfer.last_arriver};
    const std::uint32_t first = transfer.first_member;
    table_.release(id);
    for (std::uint32_t member = first; member != nobody && !gave_up_;) {
        StreamRun& stream = streams_[member];
        member = stream.next_member;
        finish_collective(stream, collective);
        wake(stream.lane);
    }
}

void Runner::finish_collective(StreamRun& stream, const CollectiveResult& collective)
{
    load_traffic(stream, collective.cost, collective.span);
    finish_transfer(stream, collective.span, collective.cost.bytes, collective.last_arriver);
}

// Joins the messages of an exchange. Its parts are one kernel, so that the largest share counts.
void Runner::join_exchange(StreamRun& stream)
{
    const FlatOp& op = *stream.op;
    std::uint32_t sm_share = 0;
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        sm_share =
            std::max(sm_share, part_cost(stream.lane, lanes_[stream.lane].kind->parts[p]).sm_share);
    make_resident(stream, sm_share);
    stream.begin = stream.start;
    stream.end = stream.start;
    stream.quiet = never;
    stream.parts_left = op.part_count;
    if (op.part_count == 0)
        return finish_transfer(stream, {stream.start, stream.start}, Bytes(0), LaneId::none());
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count && !gave_up_; ++p)
        join_message(stream, p);
}

void Runner::join_message(StreamRun& stream, std::uint32_t p)
{
    const LaneKind& kind = *lanes_[stream.lane].kind;
    const PartPlan& part = kind.parts[p];
    const std::uint32_t pipe =
        run_.compiled.lane_pipes[run_.compiled.lane_pipe_first[stream.lane] + part.pipe];
    const std::uint32_t id = table_.find_or_add(
        table_.pipe_channel(pipe), stream.step * kind.parts_per_step[part.pipe] + part.ordinal);
    Transfer& transfer = run_.transfers[id];
    const TransferCost& cost = part_cost(stream.lane, part);
    if (!matches(transfer, cost, *stream.op))
        return;
    const bool sends = part.direction == Direction::send;
    (sends ? transfer.sender : transfer.receiver) = number_of(stream);
    if (sends)
        transfer.scale = run_.scale_of(stream.lane, stream.op->scale);
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

// Begins a message when all who are needed have arrived, or ends it for the late receiver of an
// eager one.
void Runner::begin_message(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    if (transfer.state == TransferState::gathering) {
        transfer.state = TransferState::delivered;
        transfer.settled = SimTime(end_of(*transfer.cost, transfer.scale, transfer.start.value()));
        end_part(streams_[transfer.sender], transfer, Direction::send);
    }
    if (transfer.receiver == nobody)
        return;
    end_part(streams_[transfer.receiver], transfer, Direction::receive);
    table_.release(id);
}

// Ends the part of an exchange that a message is, when all is known of it.
void Runner::end_part(StreamRun& stream, const Transfer& transfer, Direction direction)
{
    const FlatOp& op = *stream.op;
    const Span span{std::max(stream.start, transfer.start.value()),
                    std::max(stream.start, transfer.settled.value())};
    stream.begin = std::max(stream.begin, span.begin);
    stream.end = std::max(stream.end, span.end);
    if (measured(stream))
        note_part(stream, transfer, direction, span);
    if (direction == Direction::send)
        load_traffic(stream, *transfer.cost, span);
    wake(stream.lane);
    if (--stream.parts_left > 0)
        return;
    Bytes bytes{};
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartPlan& part = lanes_[stream.lane].kind->parts[p];
        if (part.direction == Direction::send)
            bytes += part_cost(stream.lane, part).bytes;
    }
    finish_transfer(stream, {stream.begin, stream.end}, bytes, LaneId::none());
}

// Notes the times of the part that the message is to the head of a stream.
void Runner::note_part(const StreamRun& stream, const Transfer& transfer, Direction direction,
                       Span span)
{
    const LaneKind& kind = *lanes_[stream.lane].kind;
    replay::LaneTimes& times = accounting_->times(stream.lane);
    const FlatOp& op = *stream.op;
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartPlan& part = kind.parts[p];
        const std::uint32_t pipe =
            run_.compiled.lane_pipes[run_.compiled.lane_pipe_first[stream.lane] + part.pipe];
        const std::uint32_t sequence = stream.step * kind.parts_per_step[part.pipe] + part.ordinal;
        if (part.direction != direction || table_.pipe_channel(pipe) != transfer.channel ||
            sequence != transfer.sequence)
            continue;
        times.part_begin[p] = span.begin;
        times.part_end[p] = span.end;
    }
}

// Loads the device of a lane with the data that leaves it.
void Runner::load_traffic(const StreamRun& stream, const TransferCost& cost, Span span)
{
    const Time moves = span.begin + cost.latency.value();
    if (!interferes_ || !stream.communicates || moves >= span.end)
        return;
    load(stream, moves, traffic_of(cost, cost.ceiling));
    load(stream, span.end, -std::int64_t{traffic_of(cost, cost.ceiling)});
}

// Ends the transfer op at the head of a stream, all of which is known.
void Runner::finish_transfer(StreamRun& stream, Span span, Bytes bytes, LaneId last_arriver)
{
    load(stream, span.end, -std::int64_t{stream.resident});
    if (measured(stream)) {
        accounting_->times(stream.lane).begin[op_index(stream)] = span.begin;
        if (interferes_)
            note_loads(stream);
        accounting_->count_transfer(
            stream.lane, *stream.op,
            {SimTime(stream.start), SimTime(span.begin), SimTime(span.end), bytes},
            times_counted(stream));
    }
    record(stream, SimTime(span.begin), bytes, last_arriver, span.end);
    finish(stream, span.end);
}

// Notes what the op takes of the device, for the account of the measured step.
void Runner::note_loads(const StreamRun& stream)
{
    replay::LaneTimes& times = accounting_->times(stream.lane);
    const FlatOp& op = *stream.op;
    replay::LaneLoad& load = times.loads[op_index(stream)];
    if (op.kind == OpKind::collective)
        load = lane_load(collective_cost(stream.lane, op));
    else
        load = {stream.resident, 0, 0};
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        times.part_loads[p] = lane_load(part_cost(stream.lane, lanes_[stream.lane].kind->parts[p]));
}

} // namespace trainyard::engine::ahead
