#pragma once

// Which pairs of devices are joined alike, and what they share on the way.

#include "calibrate/import/node_map.h"

namespace trainyard {

using Words = std::vector<std::vector<std::string>>; // by device and device

// As `nvidia-smi topo -m` writes it: "NV18", "PIX" (one PCIe switch), "PXB" (several), "PHB" (one
// CPU), "SYS" (two CPUs); "X" on the diagonal.
Words classes_of(const NodeMap& map);

// Where a rank sits: a device of one of several nodes.
struct Seat {
    int node = 0;
    int device = 0;

    bool operator==(const Seat&) const = default;
};

// The classes between ranks of several nodes: inside a node those of `nodes`, else "network".
Words classes_of(const std::vector<Seat>& seats, const std::vector<Words>& nodes);

struct OrderedPair {
    int from = 0;
    int to = 0;

    auto operator<=>(const OrderedPair&) const = default;
};

// A piece of the cluster that messages of several pairs pass: a switch, a NIC, one direction of a
// link.
struct SharedPart {
    std::string name; // "switch pcie-0000:01:00.0", "NIC mlx5_0", "link gpu3 -> nvswitch"
    std::vector<OrderedPair> crossing; // of devices in the order of the description, sorted

    bool operator==(const SharedPart&) const = default;
};

// Every piece between devices. Requires a description without flaws, and at most 1,024 devices.
std::vector<SharedPart> shared_parts(const ExplicitDescription& description);

} // namespace trainyard
