#pragma once

// One node as a topology dump shows it: a tree of PCIe below its CPUs, and NVLinks; becomes an
// explicit cluster of one node.

#include "calibrate/import/notes.h"
#include "sim/topology/explicit_description.h"

namespace trainyard {

struct NodeMap {
    struct Vertex {
        std::string name;
        int parent = -1; // of switches; -1: a CPU, the root of a tree
        Bandwidth up;    // to the parent, one direction

        bool operator==(const Vertex&) const = default;
    };
    struct Gpu {
        std::string name;
        std::string model;
        int parent = -1; // of switches
        Bandwidth pcie;
        std::string address{}; // PCI; empty: not given
        Bandwidth c2c{};       // to the memory of its CPU, one direction; 0: over PCIe

        bool operator==(const Gpu&) const = default;
    };
    struct Nic {
        std::string name;
        int parent = -1;
        Bandwidth pcie;
        Bandwidth rate; // to the network; 0: what its network usually has

        bool operator==(const Nic&) const = default;
    };
    struct Nvlink {
        int from = 0; // of gpus
        int to = -1;  // of gpus; -1: the NVSwitch
        Bandwidth rate;

        bool operator==(const Nvlink&) const = default;
    };

    std::string name;
    std::string network; // preset that the NICs speak, e.g. "ib_ndr"; only where there are NICs
    bool guessed_model = false; // of the GPUs: the dump names none
    std::vector<Vertex> switches;
    std::vector<Gpu> gpus;
    std::vector<Nic> nics;
    std::vector<Nvlink> nvlinks;
    std::string nvlink_domain{}; // nodes with the same one share their NVSwitches; empty: its own

    bool operator==(const NodeMap&) const = default;
};

// Between two CPUs, one direction. 40 GB/s is what NCCL reckons with for recent server CPUs.
inline constexpr Bandwidth between_cpus{40e9};

// The network preset of that name. Throws WorldError when the shipped data cannot be read.
std::optional<NetworkTemplate> network_preset(const std::string& name);

// Preset of InfiniBand or RoCE NICs of that rate: the next that is as fast.
std::string infiniband_of(Bandwidth rate);
std::string roce_of(Bandwidth rate);

// Switches that lead to nothing are left out. NICs end in one network switch, which stands for
// whatever is outside; without a network they are left out too. Names are made unique.
ExplicitDescription describe_node(const NodeMap& map,
                                  const std::optional<NetworkTemplate>& network);

// Several nodes, whose names differ, as one cluster named after the first. The pieces of each begin
// with its name. All NICs end in the one network switch: no node can see what lies behind it.
ExplicitDescription describe_nodes(const std::vector<NodeMap>& maps,
                                   const std::optional<NetworkTemplate>& network);

// The topology file, or what is wrong with the description.
Checked<Json> topology_json(const ExplicitDescription& description, const std::string& file);

} // namespace trainyard
