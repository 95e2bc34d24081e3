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

const Column& Tables::duration(std::uint32_t cohort, const FlatOp& op)
{
    const Column*& known = durations_[{cohort, op.cost, op.scale}];
    if (known != nullptr)
        return *known;
    Column column(cohorts_.all[cohort].lanes.size(), op.duration.value());
    if (op.scale.valid())
        for (std::uint32_t i = 0; i < column.size(); ++i)
            column[i] =
                span_of(static_cast<u128>(op.duration.value()) * scale_of(cohort, i, op.scale) >>
                        20)
                    .value();
    known = &columns_.emplace_back(std::move(column));
    return *known;
}

const Column& Tables::kernel_time(std::uint32_t cohort, const FlatOp& op)
{
    const Column*& known = kernel_times_[{cohort, op.cost, op.scale, op.kernels}];
    if (known != nullptr)
        return *known;
    Column column;
    if (op.kernels > 0) {
        column = duration(cohort, op);
        for (Time& time : column)
            time /= op.kernels;
    }
    known = &columns_.emplace_back(std::move(column));
    return *known;
}

const Column* Tables::collective(std::uint32_t number, std::span<const FlatOp* const> ops)
{
    const Meeting& meeting = cohorts_.meetings[number];
    std::vector<std::uint32_t> key{number};
    for (const FlatOp* op : ops) {
        key.push_back(op->cost.value);
        key.push_back(op->scale.value);
        key.push_back(static_cast<std::uint32_t>(program_.labels[op->label.value].collective));
        if (key.back() != key[3])
            return nullptr;
    }
    const auto [found, added] = collectives_.try_emplace(key, nullptr);
    if (!added)
        return found->second;
    Column column;
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
    found->second = &columns_.emplace_back(std::move(column));
    return found->second;
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

const Column* Tables::message(std::uint32_t sender, const FlatOp& send_op, const PartPlan& sent,
                              const FlatOp& receive_op, const PartPlan& received)
{
    if (program_.labels[send_op.label.value].collective !=
        program_.labels[receive_op.label.value].collective)
        return nullptr;
    const auto [found, added] =
        messages_.try_emplace({sender, sent.pipe, sent.peer.value, received.peer.value,
                               sent.cost.value, received.cost.value, send_op.scale.value},
                              nullptr);
    if (!added)
        return found->second;
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
    found->second = &columns_.emplace_back(std::move(column));
    return found->second;
}

template <class CostOf>
const TransferLoad& Tables::load(const std::tuple<std::uint32_t, int, std::uint32_t, CostId>& key,
                                 const CostOf& cost_of)
{
    const auto found = loads_.find(key);
    if (found != loads_.end())
        return found->second;
    Column resident;
    Column latency;
    Column traffic;
    for (std::uint32_t i = 0; i < cohorts_.all[std::get<0>(key)].lanes.size(); ++i) {
        const TransferCost& cost = cost_of(i);
        resident.push_back(cost.sm_share);
        latency.push_back(cost.latency.value());
        traffic.push_back(traffic_of(cost, cost.ceiling));
    }
    return loads_
        .emplace(key, TransferLoad{amount_of(std::move(resident)), amount_of(std::move(latency)),
                                   amount_of(std::move(traffic))})
        .first->second;
}

const TransferLoad& Tables::load(std::uint32_t cohort, const FlatOp& op)
{
    return load({cohort, 0, op.group.value, op.cost},
                [&](std::uint32_t i) -> const TransferCost& { return cost_of(cohort, i, op); });
}

const TransferLoad& Tables::load(std::uint32_t cohort, const PartPlan& part)
{
    return load({cohort, 1, part.peer.value, part.cost},
                [&](std::uint32_t i) -> const TransferCost& { return cost_of(cohort, i, part); });
}

} // namespace trainyard::engine::replay
