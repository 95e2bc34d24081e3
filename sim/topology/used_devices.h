#pragma once

// A cluster of which a job uses some devices of each NVLink domain. They are numbered as the job's
// ranks are; nodes, domains, links and what they are called stay those of the cluster.

#include "sim/topology/topology_view.h"

namespace trainyard {

class UsedDevicesModel final : public TopologyView {
public:
    // The first `per_domain` devices of each domain, or all of one that has no more. Requires 1 or
    // more.
    UsedDevicesModel(std::shared_ptr<const TopologyModel> whole, int per_domain);

    int device_count() const override { return static_cast<int>(used_.size()); }
    DeviceAttachment device(DeviceId id) const override { return whole().device(in_whole(id)); }
    Placement placement(DeviceId id) const override { return whole().placement(in_whole(id)); }
    std::string device_name(DeviceId id) const override
    {
        return whole().device_name(in_whole(id));
    }
    std::vector<DeviceId> devices_of(NodeId node) const override;
    Bandwidth nvlink_among(std::span<const DeviceId> members) const override;
    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const override
    {
        return whole().route(in_whole(from), in_whole(to), choice);
    }
    std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                     const CutLinks& cut) const override
    {
        return whole().route_around(in_whole(from), in_whole(to), choice, cut);
    }

private:
    DeviceId in_whole(DeviceId id) const { return used_[id.value]; }

    std::vector<DeviceId> used_; // ascending
};

// Devices of the NVLink domain that has most.
int largest_domain(const Topology& topology);

} // namespace trainyard
