#pragma once

// Where the step's time goes, per rank and on average.

#include "sim/study/session.h"

namespace trainyard {

using TimeShares = std::array<Seconds, time_kind_count>; // by TimeKind; sum to the step time

constexpr std::size_t index_of(TimeKind kind)
{
    return static_cast<std::size_t>(kind);
}

TimeShares shares_of(const LaneTotals& lane);

// Over all ranks: lanes count as often as they stand for ranks. Requires a lane.
TimeShares mean_shares(const StepResult& result, const Binding& binding);

// What a picosecond was spent on, coarsely.
enum class TimeClass : std::uint8_t {
    compute,       // of the model, optimizer included
    communication, // exposed, and the compute time lost to communication beside it
    idle           // waiting, bubble, host, data
};
TimeClass class_of(TimeKind kind);

// For people: "forward", "exposed TP", "waiting for others", ...
std::string_view title_of(TimeKind kind);

// All kinds in the order in which they are shown.
const std::array<TimeKind, time_kind_count>& time_kinds();

Seconds sum_of(const TimeShares& shares);

// `kind` over the sum of all; 0 for an empty breakdown.
double share_of(const TimeShares& shares, TimeKind kind);

// Kinds that take at least 0.05 % of the critical rank's step or of the mean: fewer digits would
// show them as nothing.
std::vector<TimeKind> visible_kinds(const TimeShares& critical, const TimeShares& mean);

// Exposed communication of all groups (data moves, nothing is computed).
Seconds exposed_communication(const TimeShares& shares);

// One figure of every lane, averaged over ranks. Requires a lane.
template <class Figure>
double mean_over_ranks(const StepResult& result, const Binding& binding, Figure figure)
{
    double sum = 0;
    double ranks = 0;
    for (std::size_t i = 0; i < result.lanes.size(); ++i) {
        const double weight = binding.lanes[i].multiplicity;
        sum += weight * figure(result.lanes[i]);
        ranks += weight;
    }
    return sum / ranks;
}

} // namespace trainyard
