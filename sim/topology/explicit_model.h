#pragma once

// An explicit cluster: everything held as given, questions answered on its graph.

#include "sim/topology/explicit_graph.h"
#include "sim/topology/topology_model.h"

#include <algorithm>

namespace trainyard {

class ExplicitModel final : public TopologyModel {
public:
    // Requires a description without flaws (explicit_checks.h).
    explicit ExplicitModel(ExplicitDescription description);

    const ExplicitDescription& description() const { return description_; }

    const std::string& name() const override { return description_.name; }
    int device_count() const override { return pieces_.devices; }
    int node_count() const override { return static_cast<int>(pieces_.nodes.size()); }
    int domain_count() const override { return pieces_.domains; }

    DeviceAttachment device(DeviceId id) const override { return attachments_[id.value]; }
    Placement placement(DeviceId id) const override;
    std::string device_name(DeviceId id) const override;
    NodeNetwork network(NodeId id) const override { return networks_[id.value]; }
    std::vector<DeviceId> devices_of(NodeId node) const override;
    int gpus_in_node(NodeId node) const override
    {
        return static_cast<int>(devices_of(node).size());
    }
    int nics_in_reach(NodeId node) const override
    {
        return std::max(1, network(node).nics / std::max(1, gpus_in_node(node)));
    }
    int nodes_in_domain(DomainId id) const override;
    Bandwidth nvlink_among(std::span<const DeviceId> members) const override;

    std::size_t link_count() const override { return pieces_.links.size(); }
    Link link(LinkId id) const override { return pieces_.links[id.value].link; }
    std::string link_name(LinkId id) const override { return pieces_.links[id.value].name; }
    LinkEnds link_ends(LinkId id) const override;
    std::optional<Trunk> trunk(LinkId id) const override;

    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const override;
    std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                     const CutLinks& cut) const override;
    std::uint64_t ecmp_seed() const override { return description_.ecmp_seed; }

    std::vector<SwitchLayer> switch_layers() const override;
    std::vector<FabricLayer> fabric_layers() const override;
    Bandwidth bisection() const override;

private:
    std::vector<DeviceAttachment> find_attachments() const;
    std::vector<NodeNetwork> find_networks() const;
    int most_switch_hops() const;

    ExplicitDescription description_;
    ExplicitPieces pieces_;
    std::vector<std::optional<Trunk>> trunks_; // by link
    ExplicitGraph graph_;
    std::vector<DeviceAttachment> attachments_;
    std::vector<NodeNetwork> networks_;
};

} // namespace trainyard
