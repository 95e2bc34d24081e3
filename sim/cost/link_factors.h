#pragma once

// What if links of a class were faster? Line rates that cost models count instead of the
// topology's.

#include "sim/cost/network.h"
#include "sim/topology/group_shape.h"

#include <algorithm>

namespace trainyard {

// Of the line rate, by class of links.
struct LinkFactors {
    double nvlink = 1;
    double pcie = 1;
    double network = 1; // NICs and the switches above them
    double fabric = 1;  // the switches above the leaves alone, as far as they are oversubscribed

    bool operator==(const LinkFactors&) const = default;
};

inline GroupShape scaled(GroupShape shape, const LinkFactors& factors)
{
    shape.nvlink *= factors.nvlink;
    shape.pcie *= factors.pcie;
    shape.network.nic_rate *= factors.network;
    shape.network.oversubscription = std::max(1.0, shape.network.oversubscription / factors.fabric);
    shape.fabric_share *= factors.network * factors.fabric;
    return shape;
}

// Rates that the topology leaves to the class of links.
inline FabricClass scaled(FabricClass fabric, const LinkFactors& factors)
{
    fabric.line_rate *= factors.nvlink;
    return fabric;
}

// One communicator's limit is that of its sockets, whatever the NIC.
inline NetworkClass scaled(NetworkClass network, const LinkFactors& factors)
{
    network.line_rate *= factors.network;
    network.max_per_nic *= factors.network;
    return network;
}

} // namespace trainyard
