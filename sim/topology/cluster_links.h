#pragma once

// The numbers of a compact cluster's links: arithmetic both ways, nothing stored per link.
//
// First node after node, each with its sections in the order of `LinkSection`, then the uplinks of
// all leaves, then those of all spines. Links that run both ways take two neighbouring numbers: up
// (or out) even, down (or in) odd.

#include "sim/topology/clos.h"
#include "sim/topology/topology.h"

#include <array>

namespace trainyard {

enum class LinkSection : std::uint8_t {
    nvlink, // GPU to the NVSwitches of its domain
    wire,   // GPU to GPU, one number per direction
    pcie,   // GPU to its PCIe switch
    c2c,    // GPU to its CPU
    host,   // PCIe switch to the CPU, where a node has several
    nic,    // PCIe switch (or CPU) to the leaf switch
    leaf,   // leaf to spine
    spine   // spine to core
};

enum class Way : std::uint8_t { up, down };

// Where a link lies: `index` counts GPUs, wires, switches, NICs or uplinks of `owner`, which is a
// node, a leaf or a spine.
struct LinkPlace {
    LinkSection section = LinkSection::nvlink;
    int owner = 0;
    int index = 0;
    Way way = Way::up;

    bool operator==(const LinkPlace&) const = default;
};

class ClusterLinks {
public:
    ClusterLinks(int nodes, const NodeTemplate& node, bool has_fabric, const ClosShape& shape);

    std::size_t count() const { return count_; }
    LinkId id(const LinkPlace& place) const;
    LinkPlace place(LinkId id) const;

private:
    static constexpr std::size_t node_sections = 6;

    std::array<std::size_t, node_sections + 1>
        offset_{}; // of each section in a node; the last: size
    std::size_t nodes_ = 0;
    std::size_t leaf_uplinks_ = 0;
    std::size_t spine_uplinks_ = 0;
    std::size_t leaf_base_ = 0;
    std::size_t spine_base_ = 0;
    std::size_t count_ = 0;
};

} // namespace trainyard
