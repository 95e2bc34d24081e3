#include "sim/study/traced/expected_rates.h"

#include "sim/base/field_names.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::vector<DeviceId> devices_of(const RunSummary& run, const TransferRow& row)
{
    const auto group = std::find_if(run.groups.begin(), run.groups.end(),
                                    [&](const JobTraceGroup& of) { return of.name == row.group; });
    std::vector<DeviceId> devices;
    if (group != run.groups.end() && group->members.size() == to_size(row.ranks))
        for (const int member : group->members)
            devices.push_back(make_id<DeviceId>(to_size(member)));
    else
        for (int member = 0; member < row.ranks; ++member)
            devices.push_back(make_id<DeviceId>(to_size(member)));
    return devices;
}

} // namespace

Backend backend_of(const RunSummary& run)
{
    return from_name<Backend>(run.backend).value_or(Backend::nccl);
}

std::optional<GroupShape> shape_of(const RunSummary& run, const TransferRow& row,
                                   const Topology& topology)
{
    const std::vector<DeviceId> devices = devices_of(run, row);
    const auto count = static_cast<std::uint32_t>(topology.device_count());
    if (std::any_of(devices.begin(), devices.end(),
                    [&](DeviceId device) { return device.value >= count; }))
        return std::nullopt;
    return group_shape(topology, devices);
}

void add_expected_rates(RunSummary& run, const Topology& topology, const CostModel& cost)
{
    const Backend backend = backend_of(run);
    std::size_t outside = 0;
    for (TransferRow& row : run.transfers) {
        if (!row.kind || row.kind == CollectiveKind::send_receive || row.bytes == 0 ||
            row.ranks < 2)
            continue;
        const std::optional<GroupShape> shape = shape_of(run, row, topology);
        if (!shape) {
            ++outside;
            continue;
        }
        row.expected = cost.collective(*row.kind, Bytes(row.bytes), *shape, backend).total;
        row.expected_across = shape->domains > 1;
    }
    if (outside > 0)
        run.assumed.push_back(fmt::format("nothing is expected of {} kinds and sizes of transfers "
                                          "whose ranks the cluster of {} devices does not have",
                                          outside, topology.device_count()));
}

} // namespace trainyard
