#pragma once

// Where the step's time goes, per rank and on average, and what it can be bound by.

#include "sim/engine/engine.h"

#include <span>

namespace trainyard {

using TimeShares = std::array<Seconds, time_kind_count>; // by TimeKind; sum to the step time

constexpr std::size_t index_of(TimeKind kind)
{
    return static_cast<std::size_t>(kind);
}

TimeShares shares_of(const LaneTotals& lane);

// Over all ranks: lanes count as often as they stand for ranks. Requires a lane.
TimeShares mean_shares(const StepResult& result, const Binding& binding);

// All kinds in the order in which they are shown.
const std::array<TimeKind, time_kind_count>& time_kinds();

Seconds sum_of(const TimeShares& shares);

// `kind` over the sum of all; 0 for an empty breakdown.
double share_of(const TimeShares& shares, TimeKind kind);

// Kinds that take at least 0.05 % of one of these steps: fewer digits would show the others as
// nothing.
std::vector<TimeKind> visible_kinds(std::span<const TimeShares> steps);

// Exposed communication of all groups (data moves, nothing is computed).
Seconds exposed_communication(const TimeShares& shares);

// What each of `ranks` has of so many picoseconds. The same whatever both are multiplied by; 0 for
// no ranks.
Seconds mean_over(std::uint64_t ranks, u128 sum);

// One time of every lane that `counts`, averaged over ranks: the same for lanes that stand for
// several ranks and for these one by one. 0 if none does.
template <class Time, class Counts>
Seconds mean_over_ranks(const StepResult& result, const Binding& binding, Time time, Counts counts)
{
    u128 sum = 0; // ps
    std::uint64_t ranks = 0;
    for (std::size_t i = 0; i < result.lanes.size(); ++i) {
        const std::uint64_t weight = counts(binding.lanes[i]) ? binding.lanes[i].multiplicity : 0U;
        sum += static_cast<u128>(time(result.lanes[i]).value()) * weight;
        ranks += weight;
    }
    return mean_over(ranks, sum);
}

template <class Time>
Seconds mean_over_ranks(const StepResult& result, const Binding& binding, Time time)
{
    return mean_over_ranks(result, binding, time, [](const Lane&) { return true; });
}

// What a step is bound by.
enum class BottleneckClass : std::uint8_t {
    compute,
    host,
    communication,
    synchronisation,
    network,
    memory,
    bubble,
    data,
    imbalance
};
template <>
std::vector<EnumName<BottleneckClass>> enum_names<BottleneckClass>();

} // namespace trainyard
