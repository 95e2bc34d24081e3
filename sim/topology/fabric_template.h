#pragma once

// The network between nodes as a cluster description gives it: kind of NIC and switch, and how the
// switches are arranged.

#include "sim/base/field_names.h"
#include "sim/topology/names.h"

#include <cstdint>
#include <string>

namespace trainyard {

// A family of NICs and switches.
struct NetworkTemplate {
    std::string source; // where the figures come from
    std::string name;   // key of the network constants
    Transport transport = Transport::none;
    Bandwidth port_rate;                       // of a switch port, one direction
    Seconds nic_latency = Seconds(0.6e-6);     // of one NIC and its driver, one way
    Seconds switch_latency = Seconds(0.15e-6); // through one switch
    int switch_ports = 64;
    bool gpu_direct = true; // NICs reach GPU memory without host copies
    bool reduction = false; // sums in the switches (SHARP)

    bool operator==(const NetworkTemplate&) const = default;
};

enum class FabricKind : std::uint8_t {
    rail,       // NIC i of every node of a unit on leaf switch i
    leaf_spine, // all NICs of a node on one leaf switch
    fat_tree    // leaf_spine with three layers, k-ary when not oversubscribed
};

// Zeros mean: the usual number for this many nodes and switch ports (clos.h).
struct FabricTemplate {
    FabricKind kind = FabricKind::rail;
    NetworkTemplate network;
    double oversubscription = 1.0;        // of a leaf switch: NIC rate below / uplink rate
    double core_oversubscription = 1.0;   // of a spine switch: leaf links / core links
    int rails = 0;                        // leaf switches per unit; default: NICs per node, or 1
    int nodes_per_unit = 0;               // nodes that share leaf switches
    int units_per_pod = 0;                // units that share spine switches (three layers)
    std::optional<Bandwidth> uplink_rate; // between switches; absent: the network's port rate
    std::uint64_t ecmp_seed = 0;          // of the switches' hash

    bool operator==(const FabricTemplate&) const = default;
};

template <>
std::vector<EnumName<FabricKind>> enum_names<FabricKind>();
template <>
const FieldTable<NetworkTemplate>& fields_of<NetworkTemplate>();
template <>
const FieldTable<FabricTemplate>& fields_of<FabricTemplate>();

} // namespace trainyard
