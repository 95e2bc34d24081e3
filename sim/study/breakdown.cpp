#include "sim/study/breakdown.h"

#include <algorithm>

namespace trainyard {

template <>
std::vector<EnumName<BottleneckClass>> enum_names<BottleneckClass>()
{
    using enum BottleneckClass;
    return {{compute, "compute"},
            {host, "host"},
            {communication, "communication"},
            {synchronisation, "synchronisation"},
            {network, "network"},
            {memory, "memory"},
            {bubble, "bubble"},
            {data, "data"},
            {imbalance, "imbalance"}};
}

TimeShares shares_of(const LaneTotals& lane)
{
    TimeShares shares;
    for (std::size_t i = 0; i < time_kind_count; ++i)
        shares[i] = to_seconds(lane.time[i]);
    return shares;
}

TimeShares mean_shares(const StepResult& result, const Binding& binding)
{
    TimeShares shares;
    for (std::size_t i = 0; i < time_kind_count; ++i)
        shares[i] =
            mean_over_ranks(result, binding, [i](const LaneTotals& lane) { return lane.time[i]; });
    return shares;
}

Seconds mean_over(std::uint64_t ranks, u128 sum)
{
    if (ranks == 0)
        return Seconds(0);
    const double rest = static_cast<double>(sum % ranks) / static_cast<double>(ranks);
    return to_seconds(span_of(sum / ranks)) + Seconds(rest * 1e-12);
}

const std::array<TimeKind, time_kind_count>& time_kinds()
{
    static const std::array<TimeKind, time_kind_count> kinds = [] {
        std::array<TimeKind, time_kind_count> all{};
        for (std::size_t i = 0; i < time_kind_count; ++i)
            all[i] = static_cast<TimeKind>(i);
        return all;
    }();
    return kinds;
}

Seconds sum_of(const TimeShares& shares)
{
    Seconds sum;
    for (const Seconds& part : shares)
        sum += part;
    return sum;
}

double share_of(const TimeShares& shares, TimeKind kind)
{
    const Seconds sum = sum_of(shares);
    return sum.value() > 0 ? shares[index_of(kind)] / sum : 0.0;
}

std::vector<TimeKind> visible_kinds(std::span<const TimeShares> steps)
{
    constexpr double visible = 0.0005;
    std::vector<TimeKind> kinds;
    for (const TimeKind kind : time_kinds())
        if (std::ranges::any_of(
                steps, [&](const TimeShares& shares) { return share_of(shares, kind) >= visible; }))
            kinds.push_back(kind);
    return kinds;
}

Seconds exposed_communication(const TimeShares& shares)
{
    Seconds sum;
    for (const TimeKind kind : {TimeKind::exposed_tp, TimeKind::exposed_cp, TimeKind::exposed_ep,
                                TimeKind::exposed_dp, TimeKind::exposed_pp})
        sum += shares[index_of(kind)];
    return sum;
}

} // namespace trainyard
