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

// The library of all transfers; of several that of devices.
Backend backend_of(const RunSummary& run)
{
    return from_name<Backend>(run.backend).value_or(Backend::nccl);
}

} // namespace

void add_expected_rates(RunSummary& run, const Topology& topology, const CostModel& cost)
{
    const auto count = static_cast<std::uint32_t>(topology.device_count());
    const Backend backend = backend_of(run);
    std::size_t outside = 0;
    for (TransferRow& row : run.transfers) {
        if (!row.kind || row.kind == CollectiveKind::send_receive || row.bytes == 0 ||
            row.ranks < 2)
            continue;
        const std::vector<DeviceId> devices = devices_of(run, row);
        if (std::any_of(devices.begin(), devices.end(),
                        [&](DeviceId device) { return device.value >= count; }))
        {
            ++outside;
            continue;
        }
        const GroupShape shape = group_shape(topology, devices);
        row.expected = cost.collective(*row.kind, Bytes(row.bytes), shape, backend).total;
        row.expected_across = shape.domains > 1;
    }
    if (outside > 0)
        run.assumed.push_back(fmt::format("nothing is expected of {} kinds and sizes of transfers "
                                          "whose ranks the cluster of {} devices does not have",
                                          outside, count));
}

} // namespace trainyard
