#include "calibrate/fit/configuration.h"

#include "calibrate/fit/order_statistics.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Names of one launch, not of a configuration.
bool differs_by_launch(const std::string& variable)
{
    constexpr std::array<std::string_view, 3> names{"NCCL_HOSTID", "NCCL_COMM_ID",
                                                    "NCCL_DEBUG_FILE"};
    return std::find(names.begin(), names.end(), variable) != names.end();
}

} // namespace

Configuration configuration_of(const Sweep& sweep)
{
    Configuration out{sweep.collective,   sweep.backend,
                      sweep.ranks,        sweep.nodes,
                      sweep.algorithm,    sweep.protocol,
                      sweep.data_type,    sweep.device.empty() ? sweep.hardware : sweep.device,
                      sweep.nccl_version, {}};
    for (const auto& [name, value] : sweep.variables)
        if (!differs_by_launch(name))
            out.variables.emplace(name, value);
    return out;
}

std::vector<Launches> by_configuration(std::span<const Sweep> sweeps)
{
    std::map<Configuration, std::vector<const Sweep*>> groups;
    for (const Sweep& sweep : sweeps)
        groups[configuration_of(sweep)].push_back(&sweep);
    std::vector<Launches> out;
    for (auto& [configuration, members] : groups)
        out.push_back({configuration, std::move(members)});
    return out;
}

std::vector<MergedSize> merged(std::span<const std::vector<TimedSize>> launches)
{
    std::map<Bytes, std::vector<double>> times;
    for (const std::vector<TimedSize>& launch : launches)
        for (const TimedSize& point : launch)
            times[point.size].push_back(point.time.value());
    std::vector<MergedSize> out;
    for (const auto& [size, all] : times) {
        const auto [least, most] = std::minmax_element(all.begin(), all.end());
        const Interval interval = interval_of_median(all).value_or(Interval{*least, *most});
        out.push_back({{size, Seconds(median(all))},
                       Seconds(interval.low),
                       Seconds(interval.high),
                       static_cast<int>(all.size())});
    }
    return out;
}

} // namespace trainyard
