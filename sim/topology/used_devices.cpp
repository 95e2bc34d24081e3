#include "sim/topology/used_devices.h"

#include <algorithm>

namespace trainyard {
namespace {

// Devices of each domain, in order.
std::vector<int> domain_sizes(const TopologyModel& model)
{
    std::vector<int> sizes(static_cast<std::size_t>(model.domain_count()), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(model.device_count()); ++i)
        ++sizes[model.placement(make_id<DeviceId>(i)).domain.value];
    return sizes;
}

} // namespace

UsedDevicesModel::UsedDevicesModel(std::shared_ptr<const TopologyModel> whole, int per_domain)
    : TopologyView(std::move(whole))
{
    std::vector<int> taken(static_cast<std::size_t>(this->whole().domain_count()), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(this->whole().device_count()); ++i) {
        const auto id = make_id<DeviceId>(i);
        if (taken[this->whole().placement(id).domain.value]++ < per_domain)
            used_.push_back(id);
    }
}

std::vector<DeviceId> UsedDevicesModel::devices_of(NodeId node) const
{
    std::vector<DeviceId> out;
    for (const DeviceId id : whole().devices_of(node))
        if (const auto at = std::ranges::lower_bound(used_, id); at != used_.end() && *at == id)
            out.push_back(make_id<DeviceId>(static_cast<std::size_t>(at - used_.begin())));
    return out;
}

Bandwidth UsedDevicesModel::nvlink_among(std::span<const DeviceId> members) const
{
    std::vector<DeviceId> those;
    for (const DeviceId member : members)
        those.push_back(in_whole(member));
    return whole().nvlink_among(those);
}

int largest_domain(const Topology& topology)
{
    const std::vector<int> sizes = domain_sizes(topology.model());
    return sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

} // namespace trainyard
