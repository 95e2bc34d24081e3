#pragma once

// A cluster with links in a bad state: slower, longer, shared with others, or dead. Traffic takes
// the ways that are left.

#include "sim/topology/topology_view.h"

#include <unordered_map>

namespace trainyard {

// Of one link.
struct LinkState {
    double share = 1.0; // of its capacity that is left
    Seconds latency;    // more per traversal
    bool dead = false;

    bool operator==(const LinkState&) const = default;
};

class PerturbedModel final : public TopologyView {
public:
    // `seed`: of the choice among equal paths; none: the cluster's own.
    PerturbedModel(std::shared_ptr<const TopologyModel> sound,
                   std::unordered_map<LinkId, LinkState> states, std::optional<std::uint64_t> seed);

    Link link(LinkId id) const override;
    std::optional<Trunk> trunk(LinkId id) const override; // with what its links have left
    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const override;
    std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                     const CutLinks& cut) const override;
    std::uint64_t ecmp_seed() const override { return seed_; }
    const TopologyModel& sound() const override { return whole(); }
    bool rerouted(DeviceId from, DeviceId to) const override;

    // Whether flows keep to one of equal uplinks each, so that some collide.
    bool has_collisions() const { return collisions_; }

private:
    bool is_dead(LinkId id) const;

    std::unordered_map<LinkId, LinkState> states_;
    std::unordered_map<std::uint32_t, double> lost_; // capacity, by trunk
    std::uint64_t seed_;
    bool collisions_;
    bool some_dead_ = false;
};

// The same cluster with all its links in a good state; `topology` must outlive it.
Topology in_good_state(const Topology& topology);

} // namespace trainyard
