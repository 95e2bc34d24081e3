#include "sim/engine/simulation.h"
#include "sim/engine/slowdown.h"
#include "sim/engine/standstill.h"

#include <algorithm>

namespace trainyard::engine {

const TransferCost& Simulation::part_cost(std::uint32_t lane, const PartPlan& part) const
{
    return run_.binding.costs
        .transfers[run_.ways[run_.way_of(lane, part)].variant][part.cost.value];
}

// SMs that the op's kernel holds; the parts of an exchange are one kernel.
std::uint32_t Simulation::resident_share(std::uint32_t lane, const FlatOp& op) const
{
    if (op.kind == OpKind::collective) {
        const std::uint32_t variant =
            table_.variant(table_.group_channel(run_.group_of(lane, op.group)));
        return run_.binding.costs.transfers[variant][op.cost.value].sm_share;
    }
    std::uint32_t share = 0;
    for (std::size_t i = 0; i < op.part_count; ++i)
        share =
            std::max(share, part_cost(lane, run_.kind_of(lane).parts[op.part_first + i]).sm_share);
    return share;
}

void Simulation::join(std::uint32_t lane, std::uint32_t index, const FlatOp& op)
{
    StreamState& stream = run_.streams[index];
    stream.state = HeadState::joined;
    if (rates_.slows_compute() && run_.plan_of(index).kind == StreamKind::communication)
        rates_.add_resident(lane, resident_share(lane, op));
    if (op.kind == OpKind::collective)
        return join_collective(lane, index, op);
    stream.parts = {op.part_count, 0};
    for (std::size_t i = 0; i < op.part_count; ++i)
        join_message(lane, index, op, run_.kind_of(lane).parts[op.part_first + i]);
    if (stream.parts.pending == 0)
        queue_.push({run_.now, index, stream.version});
}

// Whether a newcomer means the same transfer as those before it; if not, the run ends.
bool Simulation::agree(std::uint32_t id, const TransferCost& cost, std::uint32_t index)
{
    Transfer& transfer = run_.transfers[id];
    if (transfer.cost == nullptr) {
        transfer.cost = &cost;
        transfer.label = run_.head(index).label;
        return true;
    }
    const bool same =
        (transfer.cost == &cost || *transfer.cost == cost) &&
        run_.program.labels[transfer.label.value].collective == run_.label_of(index).collective;
    if (!same)
        problems_.push_back(mismatch(run_, table_, id, index));
    return same;
}

void Simulation::join_collective(std::uint32_t lane, std::uint32_t index, const FlatOp& op)
{
    const GroupId group = run_.group_of(lane, op.group);
    const std::uint32_t channel = table_.group_channel(group);
    const std::uint32_t per_step = run_.kind_of(lane).collectives_per_step[op.group.value];
    StreamState& stream = run_.streams[index];
    const std::uint32_t id = table_.find_or_add(channel, stream.step * per_step + op.ordinal);
    const TransferCost& cost = run_.binding.costs.transfers[table_.variant(channel)][op.cost.value];
    if (!agree(id, cost, index))
        return;
    Transfer& transfer = run_.transfers[id];
    stream.transfer = id;
    stream.next_member = transfer.first_member;
    transfer.first_member = index;
    if (transfer.arrived == 0 || transfer.start < run_.now)
        transfer.last_arriver = LaneId{lane};
    else
        transfer.last_arriver = std::min(transfer.last_arriver, LaneId{lane});
    transfer.start = run_.now;
    const std::uint32_t scale = run_.scale_of(lane, op.scale);
    transfer.scale = transfer.arrived == 0 ? scale : std::max(transfer.scale, scale);
    const bool complete = ++transfer.arrived == table_.members(channel);
    if (choice_.fidelity() == Fidelity::chunk && shape_of(transfer) != StepShape::none) {
        if (complete)
            transfer.state = TransferState::stepping;
        return stepping_.arrive(id, index);
    }
    if (complete && transfer.state == TransferState::gathering)
        begin_transfer(id);
}

StepShape Simulation::shape_of(const Transfer& transfer) const
{
    return choice_.shape(make_id<GroupId>(transfer.channel),
                         run_.program.labels[transfer.label.value].collective,
                         transfer.cost->pattern);
}

void Simulation::join_message(std::uint32_t lane, std::uint32_t index, const FlatOp& op,
                              const PartPlan& part)
{
    const LaneKind& kind = run_.kind_of(lane);
    StreamState& stream = run_.streams[index];
    const std::uint32_t pipe = run_.ways[run_.way_of(lane, part)].pipe;
    const std::uint32_t id = table_.find_or_add(
        table_.pipe_channel(pipe), stream.step * kind.parts_per_step[part.pipe] + part.ordinal);
    const TransferCost& cost = part_cost(lane, part);
    if (!agree(id, cost, index))
        return;
    Transfer& transfer = run_.transfers[id];
    if (part.direction == Direction::send) {
        transfer.sender = index;
        transfer.scale = run_.scale_of(lane, op.scale);
        transfer.way = run_.way_of(lane, part);
        transfer.links = run_.ways[transfer.way].links;
    } else {
        transfer.receiver = index;
    }
    ++transfer.arrived;
    if (transfer.state == TransferState::broken)
        return;
    if (transfer.state == TransferState::delivered) {
        --stream.parts.pending;
        table_.release(id);
    } else if (transfer.state != TransferState::gathering) {
        begin_part(index);
    } else if (transfer.arrived == 2 || (cost.eager && transfer.sender != nobody)) {
        begin_transfer(id);
    }
}

// All who are needed have arrived.
void Simulation::begin_transfer(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    transfer.start = run_.now;
    transfer.state = TransferState::latency;
    transfer.remaining = scaled_work(*transfer.cost, transfer.scale).value;
    if (table_.is_group(transfer.channel)) {
        const auto group = make_id<GroupId>(transfer.channel);
        transfer.links = run_.binding.groups[group.value].uses(transfer.cost->pattern);
        transfer.may_step = choice_.fidelity() == Fidelity::flow && transfer.remaining > 0 &&
                            shape_of(transfer) != StepShape::none;
    } else {
        begin_part(transfer.sender);
        if (transfer.receiver != nobody)
            begin_part(transfer.receiver);
    }
    SimTime event = run_.now + transfer.cost->latency;
    if (rates_.undisturbed(transfer) && transfer.remaining > 0)
        event += time_to_finish(Work{transfer.remaining}, transfer.cost->ceiling);
    queue_.push({event, id | transfer_bit, transfer.version});
}

void Simulation::begin_part(std::uint32_t index)
{
    StreamState& stream = run_.streams[index];
    stream.mark = run_.now;
    if (stream.parts.moving++ == 0)
        stream.second_mark = run_.now;
}

void Simulation::end_part(std::uint32_t index)
{
    touch(run_.lane_of(index));
    StreamState& stream = run_.streams[index];
    --stream.parts.moving;
    if (--stream.parts.pending == 0)
        finish(index);
}

// Transfers that evolve like it, itself among them.
std::uint32_t Simulation::copies(const Transfer& transfer) const
{
    return table_.is_group(transfer.channel)
               ? run_.binding.groups[transfer.channel].copies
               : run_.lanes[run_.lane_of(transfer.sender)].multiplicity;
}

// Its latency is over, or all of it; or members have come to one that goes step by step.
void Simulation::handle_transfer(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    if (transfer.steps != nobody) {
        if (transfer.parent != nobody)
            stepping_.handle_send(id);
        else
            stepping_.handle_collective(id);
        return finish_stepped();
    }
    const bool more = transfer.state == TransferState::latency && transfer.remaining > 0 &&
                      !rates_.undisturbed(transfer);
    if (!more)
        return deliver(id);
    if (transfer.may_step && !mechanisms_.has(Mechanism::late_steps))
        return stepping_.open(id);
    transfer.state = TransferState::moving;
    rates_.start_transfer(id);
}

// The ops of members that are done with their steps.
void Simulation::finish_stepped()
{
    for (const std::uint32_t stream : stepping_.done().streams)
        finish(stream);
    for (const std::uint32_t transfer : stepping_.done().transfers)
        table_.release(transfer);
    stepping_.done().streams.clear();
    stepping_.done().transfers.clear();
}

void Simulation::deliver(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    if (transfer.state == TransferState::moving)
        rates_.end_transfer(id);
    if (transfer.disturbed)
        slowed_ += copies(transfer);
    if (!table_.is_group(transfer.channel)) {
        end_part(transfer.sender);
        if (transfer.receiver == nobody) {
            transfer.state = TransferState::delivered;
            return;
        }
        end_part(transfer.receiver);
        return table_.release(id);
    }
    for (std::uint32_t member = transfer.first_member; member != nobody;) {
        const std::uint32_t next = run_.streams[member].next_member;
        finish(member);
        member = next;
    }
    table_.release(id);
}

void Simulation::finish_transfer_op(std::uint32_t lane, std::uint32_t index, const FlatOp& op)
{
    const StreamState& stream = run_.streams[index];
    if (rates_.slows_compute() && run_.plan_of(index).kind == StreamKind::communication)
        rates_.remove_resident(lane, resident_share(lane, op));
    const bool counted = stream.step == run_.steps - 1;
    if (!counted && !recorder_.wants(lane))
        return;
    SimTime began = stream.mark;
    Bytes bytes{};
    LaneId last_arriver{};
    if (op.kind == OpKind::collective) {
        const Transfer& transfer = run_.transfers[stream.transfer];
        began = transfer.start;
        bytes = transfer.cost->bytes;
        last_arriver = transfer.last_arriver;
    }
    for (std::size_t i = 0; i < op.part_count; ++i) {
        const PartPlan& part = run_.kind_of(lane).parts[op.part_first + i];
        if (part.direction == Direction::send)
            bytes += part_cost(lane, part).bytes;
    }
    if (counted)
        accounting_.count_transfer(index, began, bytes);
    if (recorder_.wants(lane))
        recorder_.add(index, began, bytes, last_arriver);
}

} // namespace trainyard::engine
