#pragma once

// What a set of communicating devices looks like to a cost model: how many share an NVLink domain,
// how many domains, through how many NICs.

#include "sim/topology/topology.h"

#include <span>

namespace trainyard {

// What links in a bad state leave to a group, against the same links in a good one.
struct LinkHealth {
    double inside = 1.0;    // of the rate among members of a domain, where it is worst
    double across = 1.0;    // of the rate between domains, likewise
    Seconds inside_latency; // more per hop, mean over a ring's hops
    Seconds across_latency;

    bool operator==(const LinkHealth&) const = default;
};

struct GroupShape {
    int ranks = 1;
    int domains = 1;          // NVLink domains touched
    int nodes = 1;            // servers or trays touched
    int ranks_per_domain = 1; // largest
    // Smallest; 0: as the largest. Rings cross each domain alike, so the domain with the fewest
    // members, hence NICs, holds the others back: 73 ranks of racks of 72 have one NIC to cross.
    int fewest_per_domain = 0;
    int ranks_per_node = 1; // largest
    int stride = 1;         // distance of neighbouring members in device numbers inside a node

    // Inside a domain (meaningful when ranks_per_domain > 1).
    Bandwidth nvlink; // per GPU and direction; 0: the domain is a node joined by PCIe
    Bandwidth pcie;
    bool nvswitch = false;
    bool in_switch_reduction = false;

    // Between domains (meaningful when domains > 1).
    NodeNetwork network;
    int gpus_per_node = 1;    // of the machine, in the group or not
    int nodes_per_domain = 1; // 1 for HGX, 18 for a full NVL72

    // What switches above the leaves let each member send out of its domain while the group and
    // its siblings run their rings, links sound; 0: as its NICs. Whoever knows the siblings says
    // it.
    Bandwidth fabric_share;

    // Whoever knows the ways of the group and its siblings says it.
    LinkHealth health;

    // Line rate out of a node per GPU of the machine when all of them communicate at once, as the
    // sibling groups of one parallel dimension do: nics x rate / gpus_per_node, links in a good
    // state.
    Bandwidth nic_rate_per_gpu() const;

    // Members of the domain that crosses slowest.
    int crossing_ranks() const
    {
        return fewest_per_domain > 0 ? fewest_per_domain : ranks_per_domain;
    }

    bool operator==(const GroupShape&) const = default;
};

// Requires at least one device.
GroupShape group_shape(const Topology& topology, std::span<const DeviceId> members);

} // namespace trainyard
