#pragma once

// Links between switches as transfers share them.
//
// Flows spread over the links of a trunk, as adaptive routing or many queue pairs make them, unless
// the cluster is said to let them collide (PerturbedModel::has_collisions). So a trunk is one link:
// its first stands for all of them. Costs take it the same way (fabric_share.h, link_health.h).

#include "sim/program/binding.h"
#include "sim/topology/topology.h"

namespace trainyard {

// Whether flows spread over the links of trunks.
bool spreads_flows(const Topology& topology);

class Trunks {
public:
    explicit Trunks(const Topology& topology);

    // The link that stands for a link: the first of its trunk, else itself.
    LinkId carrier(LinkId link) const { return carrier_[link.value]; }

    // In place of the uses of single links.
    std::vector<LinkUse> spread(std::span<const LinkUse> uses) const;
    Ways spread(const Ways& ways) const;

private:
    std::vector<LinkId> carrier_; // by link
};

// Puts all uses and capacities of bound links on the trunks' first links.
void spread_over_trunks(Binding& binding, const Topology& topology);

} // namespace trainyard
