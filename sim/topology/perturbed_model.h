#pragma once

// A cluster with links in a bad state: slower, longer, shared with others, or dead. Traffic takes
// the ways that are left.

#include "sim/topology/topology_model.h"

#include <unordered_map>

namespace trainyard {

// Of one link.
struct LinkState {
    double share = 1.0; // of its capacity that is left
    Seconds latency;    // more per traversal
    bool dead = false;

    bool operator==(const LinkState&) const = default;
};

class PerturbedModel final : public TopologyModel {
public:
    // `seed`: of the choice among equal paths; none: the cluster's own.
    PerturbedModel(std::shared_ptr<const TopologyModel> sound,
                   std::unordered_map<LinkId, LinkState> states, std::optional<std::uint64_t> seed);

    const std::string& name() const override { return sound_->name(); }
    int device_count() const override { return sound_->device_count(); }
    int node_count() const override { return sound_->node_count(); }
    int domain_count() const override { return sound_->domain_count(); }
    DeviceAttachment device(DeviceId id) const override { return sound_->device(id); }
    Placement placement(DeviceId id) const override { return sound_->placement(id); }
    std::string device_name(DeviceId id) const override { return sound_->device_name(id); }
    NodeNetwork network(NodeId id) const override { return sound_->network(id); }
    std::vector<DeviceId> devices_of(NodeId node) const override
    {
        return sound_->devices_of(node);
    }
    int nodes_in_domain(DomainId id) const override { return sound_->nodes_in_domain(id); }
    Bandwidth nvlink_among(std::span<const DeviceId> members) const override
    {
        return sound_->nvlink_among(members);
    }
    std::size_t link_count() const override { return sound_->link_count(); }
    std::string link_name(LinkId id) const override { return sound_->link_name(id); }
    LinkEnds link_ends(LinkId id) const override { return sound_->link_ends(id); }
    std::vector<SwitchLayer> switch_layers() const override { return sound_->switch_layers(); }
    std::vector<FabricLayer> fabric_layers() const override { return sound_->fabric_layers(); }
    Bandwidth bisection() const override { return sound_->bisection(); }

    Link link(LinkId id) const override;
    std::optional<Trunk> trunk(LinkId id) const override; // with what its links have left
    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const override;
    std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                     const CutLinks& cut) const override;
    std::uint64_t ecmp_seed() const override { return seed_; }
    const TopologyModel& sound() const override { return *sound_; }
    bool rerouted(DeviceId from, DeviceId to) const override;

    // Whether flows keep to one of equal uplinks each, so that some collide.
    bool has_collisions() const { return collisions_; }

private:
    bool is_dead(LinkId id) const;

    std::shared_ptr<const TopologyModel> sound_;
    std::unordered_map<LinkId, LinkState> states_;
    std::unordered_map<std::uint32_t, double> lost_; // capacity, by trunk
    std::uint64_t seed_;
    bool collisions_;
    bool some_dead_ = false;
};

// The same cluster with all its links in a good state; `topology` must outlive it.
Topology in_good_state(const Topology& topology);

} // namespace trainyard
