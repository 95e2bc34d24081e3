#pragma once

// A cluster seen through another: what a view does not change, the cluster itself answers.

#include "sim/topology/topology_model.h"

namespace trainyard {

class TopologyView : public TopologyModel {
public:
    explicit TopologyView(std::shared_ptr<const TopologyModel> whole) : whole_(std::move(whole)) {}

    const std::string& name() const override { return whole_->name(); }
    int device_count() const override { return whole_->device_count(); }
    int node_count() const override { return whole_->node_count(); }
    int domain_count() const override { return whole_->domain_count(); }
    DeviceAttachment device(DeviceId id) const override { return whole_->device(id); }
    Placement placement(DeviceId id) const override { return whole_->placement(id); }
    std::string device_name(DeviceId id) const override { return whole_->device_name(id); }
    NodeNetwork network(NodeId id) const override { return whole_->network(id); }
    std::vector<DeviceId> devices_of(NodeId node) const override
    {
        return whole_->devices_of(node);
    }
    int gpus_in_node(NodeId node) const override { return whole_->gpus_in_node(node); }
    int nics_in_reach(NodeId node) const override { return whole_->nics_in_reach(node); }
    int nodes_in_domain(DomainId id) const override { return whole_->nodes_in_domain(id); }
    Bandwidth nvlink_among(std::span<const DeviceId> members) const override
    {
        return whole_->nvlink_among(members);
    }
    std::size_t link_count() const override { return whole_->link_count(); }
    Link link(LinkId id) const override { return whole_->link(id); }
    std::string link_name(LinkId id) const override { return whole_->link_name(id); }
    LinkEnds link_ends(LinkId id) const override { return whole_->link_ends(id); }
    std::optional<Trunk> trunk(LinkId id) const override { return whole_->trunk(id); }
    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const override
    {
        return whole_->route(from, to, choice);
    }
    std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                     const CutLinks& cut) const override
    {
        return whole_->route_around(from, to, choice, cut);
    }
    std::uint64_t ecmp_seed() const override { return whole_->ecmp_seed(); }
    std::vector<SwitchLayer> switch_layers() const override { return whole_->switch_layers(); }
    std::vector<FabricLayer> fabric_layers() const override { return whole_->fabric_layers(); }
    Bandwidth bisection() const override { return whole_->bisection(); }

protected:
    const TopologyModel& whole() const { return *whole_; }

private:
    std::shared_ptr<const TopologyModel> whole_;
};

} // namespace trainyard
