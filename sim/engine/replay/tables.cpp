#include "sim/engine/replay/tables.h"

#include "sim/engine/interference.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

Time time_of(const TransferCost& cost, std::uint32_t scale)
{
    const u128 work = cost.work.value * scale >> 20;
    return (work > 0 ? cost.latency + time_to_finish(Work{work}, cost.ceiling) : cost.latency)
        .value();
}

// One number where all are equal.
Amount amount_of(Column column)
{
    if (std::adjacent_find(column.begin(), column.end(), std::not_equal_to<>()) != column.end())
        return {0, std::move(column)};
    return {column.front(), {}};
}

} // namespace

std::uint32_t Tables::scale_of(std::uint32_t cohort, std::uint32_t index, ScaleSlot slot) const
{
    return slot.valid() ? lane(cohort, index).scales[slot.value] : full_share;
}

const TimeTable* Tables::keep(Column times)
{
    const Time greatest =
        times.empty() ? 0 : fastest_kernels().greatest(times.data(), times.size());
    return &tables_.emplace_back(TimeTable{std::move(times), greatest});
}

Column Tables::durations(std::uint32_t cohort, const FlatOp& op) const
{
    Column column(cohorts_.all[cohort].lanes.size(), op.duration.value());
    if (!op.scale.valid())
        return column;
    for (std::uint32_t i = 0; i < column.size(); ++i)
        column[i] =
            span_of(static_cast<u128>(op.duration.value()) * scale_of(cohort, i, op.scale) >> 20)
                .value();
    return column;
}

OpTimes Tables::times(std::uint32_t cohort, const FlatOp& op)
{
    const OpKey key{op.scale, op.kernels};
    if (const OpTimes* known = times_.find(cohort, op.cost, key))
        return *known;
    OpTimes times;
    times.duration = keep(durations(cohort, op));
    if (op.kernels > 0) {
        Column kernel = times.duration->times;
        for (Time& time : kernel)
            time /= op.kernels;
        times.kernel = keep(std::move(kernel));
    }
    return times_.add(cohort, op.cost, key, times);
}

const TimeTable* Tables::collective(std::uint32_t number, std::span<const FlatOp* const> ops)
{
    seats_.clear();
    for (const FlatOp* op : ops) {
        seats_.push_back({op->cost, op->scale, program_.labels[op->label.value].collective});
        if (seats_.back().collective != seats_.front().collective)
            return nullptr;
    }
    if (const auto* known = collectives_.find(number, ops[0]->cost, seats_))
        return *known;
    return collectives_.add(number, ops[0]->cost, seats_, tabulate(cohorts_.meetings[number], ops));
}

const TimeTable* Tables::tabulate(const Meeting& meeting, std::span<const FlatOp* const> ops)
{
    Column column;
    column.reserve(meeting.groups.size());
    for (std::size_t g = 0; g < meeting.groups.size(); ++g) {
        const auto& costs = binding_.costs.transfers[binding_.groups[meeting.groups[g]].variant];
        const TransferCost* cost = nullptr;
        std::uint32_t scale = 0;
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m) {
            const Member& member = meeting.members[m];
            const FlatOp& op = *ops[member.seat];
            const TransferCost& own = costs[op.cost.value];
            if (cost != nullptr && cost != &own && *cost != own)
                return nullptr;
            cost = &own;
            scale = std::max(scale,
                             scale_of(meeting.seats[member.seat].cohort, member.index, op.scale));
        }
        column.push_back(time_of(*cost, scale));
    }
    return keep(std::move(column));
}

const TransferCost& Tables::cost_of(std::uint32_t cohort, std::uint32_t index,
                                    const FlatOp& op) const
{
    const GroupId group = lane(cohort, index).groups[op.group.value];
    return binding_.costs.transfers[binding_.groups[group.value].variant][op.cost.value];
}

const TransferCost& Tables::cost_of(std::uint32_t cohort, std::uint32_t index,
                                    const PartPlan& part) const
{
    const Peer& peer = lane(cohort, index).peers[part.peer.value];
    return binding_.costs.transfers[peer.variant][part.cost.value];
}

const TimeTable* Tables::message(std::uint32_t sender, const FlatOp& send_op, const PartPlan& sent,
                                 const FlatOp& receive_op, const PartPlan& received)
{
    if (program_.labels[send_op.label.value].collective !=
        program_.labels[receive_op.label.value].collective)
        return nullptr;
    const MessageKey key{sent.pipe, sent.peer, received.peer, received.cost, send_op.scale};
    if (const auto* known = messages_.find(sender, sent.cost, key))
        return *known;
    const PipeLink& link = cohorts_.all[sender].pipes[sent.pipe];
    Column column;
    for (std::uint32_t i = 0; i < cohorts_.all[sender].lanes.size(); ++i) {
        const TransferCost& cost = cost_of(sender, i, sent);
        const std::uint32_t partner = link.partners.empty() ? i : link.partners[i];
        const TransferCost& theirs = cost_of(link.cohort, partner, received);
        if (&cost != &theirs && cost != theirs)
            return nullptr;
        if (cost.eager != cost_of(sender, 0, sent).eager)
            return nullptr;
        column.push_back(time_of(cost, scale_of(sender, i, send_op.scale)));
    }
    return messages_.add(sender, sent.cost, key, keep(std::move(column)));
}

template <class CostOf>
const TransferLoad& Tables::load(std::uint32_t cohort, CostId cost, const LoadKey& key,
                                 const CostOf& cost_of)
{
    if (const TransferLoad* known = loads_.find(cohort, cost, key))
        return *known;
    Column resident;
    Column latency;
    Column traffic;
    for (std::uint32_t i = 0; i < cohorts_.all[cohort].lanes.size(); ++i) {
        const TransferCost& of_lane = cost_of(i);
        resident.push_back(of_lane.sm_share);
        latency.push_back(of_lane.latency.value());
        traffic.push_back(traffic_of(of_lane, of_lane.ceiling));
    }
    return loads_.add(cohort, cost, key,
                      {amount_of(std::move(resident)), amount_of(std::move(latency)),
                       amount_of(std::move(traffic))});
}

const TransferLoad& Tables::load(std::uint32_t cohort, const FlatOp& op)
{
    return load(cohort, op.cost, {op.kind, op.group.value},
                [&](std::uint32_t i) -> const TransferCost& { return cost_of(cohort, i, op); });
}

const TransferLoad& Tables::load(std::uint32_t cohort, const PartPlan& part)
{
    return load(cohort, part.cost, {OpKind::exchange, part.peer.value},
                [&](std::uint32_t i) -> const TransferCost& { return cost_of(cohort, i, part); });
}

} // namespace trainyard::engine::replay
