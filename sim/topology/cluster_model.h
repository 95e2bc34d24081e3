#pragma once

// A cluster kept compact: one node template, one fabric, and arithmetic. The size does not depend
// on the number of nodes; every query costs the length of its answer.

#include "sim/topology/cluster.h"
#include "sim/topology/cluster_links.h"
#include "sim/topology/cluster_routes.h"
#include "sim/topology/topology_model.h"

namespace trainyard {

class ClusterModel final : public TopologyModel {
public:
    // Requires a description without flaws of severity error.
    explicit ClusterModel(ClusterDescription description);

    const ClusterDescription& description() const { return description_; }
    const ClosShape& shape() const { return shape_; }

    const std::string& name() const override { return description_.name; }
    int device_count() const override { return description_.nodes * description_.node.gpus; }
    int node_count() const override { return description_.nodes; }
    int domain_count() const override;

    DeviceAttachment device(DeviceId id) const override;
    Placement placement(DeviceId id) const override;
    std::string device_name(DeviceId id) const override;
    NodeNetwork network(NodeId id) const override;
    std::vector<DeviceId> devices_of(NodeId node) const override;
    int gpus_in_node(NodeId) const override { return description_.node.gpus; }
    int nics_in_reach(NodeId) const override { return routes_.nics_in_reach(); }
    int nodes_in_domain(DomainId id) const override;
    Bandwidth nvlink_among(std::span<const DeviceId> members) const override;

    std::size_t link_count() const override { return links_.count(); }
    Link link(LinkId id) const override;
    std::string link_name(LinkId id) const override;
    LinkEnds link_ends(LinkId id) const override;
    std::optional<Trunk> trunk(LinkId id) const override;

    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const override;
    std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                     const CutLinks& cut) const override;
    std::uint64_t ecmp_seed() const override;

    std::vector<SwitchLayer> switch_layers() const override;
    std::vector<FabricLayer> fabric_layers() const override;
    Bandwidth bisection() const override;

private:
    Bandwidth wire_rate(int links) const; // of parallel direct NVLinks
    Link nic_link() const;
    LinkEnds node_link_ends(const LinkPlace& place) const;
    LinkEnds fabric_link_ends(const LinkPlace& place) const;

    ClusterDescription description_;
    ClosShape shape_;
    int nodes_per_domain_;
    std::vector<NvlinkWire> wires_;
    ClusterLinks links_;
    ClusterRoutes routes_;
};

} // namespace trainyard
