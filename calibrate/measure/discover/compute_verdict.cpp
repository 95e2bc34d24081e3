#include "calibrate/measure/discover/compute_verdict.h"

#include <fmt/core.h>

#include <map>

namespace trainyard {

std::vector<SlowVerdict> slow_devices(const std::vector<DeviceRate>& rates, const SlowRule& rule)
{
    std::map<std::string, std::vector<double>> by_model;
    for (const DeviceRate& device : rates)
        if (device.rate > 0)
            by_model[device.model].push_back(device.rate);
    std::vector<SlowVerdict> out;
    for (const DeviceRate& device : rates) {
        if (!(device.rate > 0))
            continue;
        const ClassLevel level = level_of(by_model.at(device.model), rule);
        if (!is_slow(device.rate, level, rule))
            continue;
        const double share = device.rate / level.median;
        const std::size_t others = level.cells - 1;
        out.push_back({SlowKind::gpu,
                       device.name,
                       share,
                       fmt::format("computes at {:.3g} % of the {} other {}{}", 100 * share, others,
                                   device.model, others == 1 ? "" : "s (median)"),
                       {}});
    }
    return out;
}

std::vector<std::string> stragglers(const std::vector<MeasuredPoint>& points)
{
    struct Count {
        int points = 0;
        int last = 0;
        double shares = 0;
    };
    std::map<int, Count> by_rank;
    for (const MeasuredPoint& point : points) {
        const std::vector<int>& members = point.point.group.members;
        const auto slowest = static_cast<std::size_t>(point.slowest_rank);
        if (!point.slowest_share || members.size() < 2 || point.slowest_rank < 0 ||
            slowest >= members.size())
            continue;
        for (const int rank : members)
            ++by_rank[rank].points;
        const double midway = (1 + 1 / static_cast<double>(members.size())) / 2;
        if (*point.slowest_share < midway)
            continue;
        Count& count = by_rank[members[slowest]];
        ++count.last;
        count.shares += *point.slowest_share;
    }
    std::vector<std::string> out;
    for (const auto& [rank, count] : by_rank)
        if (count.points >= 5 && 3 * count.last >= 2 * count.points)
            out.push_back(
                fmt::format("rank {} was the last in {:.0f} % of the batches of {} of its "
                            "{} points: others wait for it",
                            rank, 100 * count.shares / count.last, count.last, count.points));
    return out;
}

} // namespace trainyard
