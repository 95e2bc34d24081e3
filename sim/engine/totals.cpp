#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine {

namespace {

double to_seconds_of_ranks(u128 picoseconds)
{
    return static_cast<double>(picoseconds) * 1e-12;
}

} // namespace

TimeKind computing_kind(Phase phase)
{
    switch (phase) {
    case Phase::forward:
        return TimeKind::forward;
    case Phase::backward:
        return TimeKind::backward;
    case Phase::recompute:
        return TimeKind::recompute;
    case Phase::optimizer:
        return TimeKind::optimizer;
    default:
        return TimeKind::other_compute;
    }
}

std::size_t phase_index(Phase phase)
{
    return static_cast<std::size_t>(computing_kind(phase));
}

void add_work(LaneTotals& totals, const ComputeWork& work)
{
    static_assert(static_cast<std::size_t>(TimeKind::slowdown) == std::tuple_size_v<ComputeWork>);
    SimTime slowed = totals.compute_busy;
    for (std::size_t kind = 0; kind < work.size(); ++kind) {
        const SimTime useful = span_of(work[kind] / full_share);
        totals.time[kind] += useful;
        slowed -= useful;
    }
    totals.time[work.size()] += slowed;
}

TimeKind exposed_kind(GroupKind group)
{
    switch (group) {
    case GroupKind::tp:
        return TimeKind::exposed_tp;
    case GroupKind::cp:
    case GroupKind::cp_a2a:
    case GroupKind::cp_ring:
        return TimeKind::exposed_cp;
    case GroupKind::ep:
    case GroupKind::etp:
        return TimeKind::exposed_ep;
    case GroupKind::pp:
    case GroupKind::embedding:
        return TimeKind::exposed_pp;
    default:
        return TimeKind::exposed_dp;
    }
}

TimeKind waiting_kind(OpKind transfer, bool joins_stages)
{
    return transfer == OpKind::exchange || joins_stages ? TimeKind::bubble : TimeKind::waiting;
}

bool joins_stages(const Group& group, const std::vector<Lane>& lanes)
{
    if (group.kind != GroupKind::pp && group.kind != GroupKind::embedding &&
        group.kind != GroupKind::twin && group.kind != GroupKind::world)
        return false;
    return std::any_of(group.members.begin(), group.members.end(), [&](LaneId member) {
        return lanes[member.value].role != lanes[group.members.front().value].role;
    });
}

std::size_t transfer_class_count()
{
    return enum_names<CollectiveKind>().size() * group_kind_count;
}

std::size_t transfer_class(const Label& label)
{
    return static_cast<std::size_t>(label.collective) * group_kind_count +
           static_cast<std::size_t>(label.group);
}

std::vector<TransferTotals> transfer_totals(std::span<const TransferSum> by_class)
{
    std::vector<TransferTotals> result;
    for (std::size_t i = 0; i < by_class.size(); ++i) {
        const TransferSum& sum = by_class[i];
        if (sum.count == 0)
            continue;
        result.push_back({.collective = static_cast<CollectiveKind>(i / group_kind_count),
                          .group = static_cast<GroupKind>(i % group_kind_count),
                          .count = sum.count,
                          .bytes = static_cast<double>(sum.bytes),
                          .transfer_seconds = to_seconds_of_ranks(sum.transfer),
                          .waiting_seconds = to_seconds_of_ranks(sum.waiting),
                          .exposed_seconds = to_seconds_of_ranks(sum.exposed)});
    }
    return result;
}

TimeKind kind_at_the_end(const std::vector<Lane>& lanes)
{
    const bool alike = std::ranges::all_of(
        lanes, [&](const Lane& lane) { return lane.role == lanes.front().role; });
    return alike ? TimeKind::waiting : TimeKind::bubble;
}

void fill_step(LaneTotals& totals, SimTime missing, TimeKind idle)
{
    if (missing > SimTime(0)) {
        totals.time[static_cast<std::size_t>(idle)] += missing;
        return;
    }
    static constexpr std::array giving = {
        TimeKind::bubble,     TimeKind::waiting,    TimeKind::data,          TimeKind::host,
        TimeKind::exposed_pp, TimeKind::exposed_dp, TimeKind::exposed_ep,    TimeKind::exposed_cp,
        TimeKind::exposed_tp, TimeKind::slowdown,   TimeKind::other_compute, TimeKind::optimizer,
        TimeKind::recompute,  TimeKind::backward,   TimeKind::forward};
    static_assert(giving.size() == time_kind_count);
    for (const TimeKind kind : giving) {
        SimTime& time = totals.time[static_cast<std::size_t>(kind)];
        const SimTime change = std::max(missing, -time);
        time += change;
        missing -= change;
    }
}

void set_steps(StepResult& result, std::vector<SimTime> ends)
{
    for (std::size_t step = 1; step < ends.size(); ++step)
        ends[step] = std::max(ends[step], ends[step - 1]);
    result.step_time = ends.back();
    if (ends.size() > 1)
        result.step_time -= ends[ends.size() - 2];
    result.step_ends = std::move(ends);
}

LaneId critical_lane(std::span<const LaneTotals> lanes)
{
    const auto idle = [](const LaneTotals& totals) {
        return totals.time[static_cast<std::size_t>(TimeKind::waiting)] +
               totals.time[static_cast<std::size_t>(TimeKind::bubble)];
    };
    const auto critical =
        std::min_element(lanes.begin(), lanes.end(), [&](const LaneTotals& a, const LaneTotals& b) {
            return idle(a) < idle(b);
        });
    return critical == lanes.end()
               ? LaneId::none()
               : make_id<LaneId>(static_cast<std::size_t>(critical - lanes.begin()));
}

} // namespace trainyard::engine
