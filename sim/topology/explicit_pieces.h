#pragma once

// An explicit description put together: names resolved, links directed and classified, nodes and
// NVLink domains found. What the checks and the model both start from.

#include "sim/topology/explicit_description.h"
#include "sim/topology/topology_model.h"

#include <unordered_map>

namespace trainyard {

// A device, switch or NIC: devices first, then switches, then NICs, as listed.
struct Piece {
    enum class Kind : std::uint8_t { device, switch_, nic } kind = Kind::device;
    std::string name;
    int node = -1; // -1: none
    SwitchKind switch_kind = SwitchKind::network;
    bool reduction = false;
    int layer = 0; // of network switches: 1 beside NICs, 2 above, ...; 0: reached by none
};

struct DirectedLink {
    int from = 0; // piece
    int to = 0;
    Link link;
    std::string name;
    std::size_t entry = 0; // of the description's links
};

struct ExplicitPieces {
    std::vector<Piece> pieces;
    std::vector<DirectedLink> links;
    std::vector<std::string> nodes;  // in the order of their first device
    std::vector<int> domain_of_node; // in the order of their first node
    int devices = 0;
    int domains = 0;

    bool is_device(int piece) const { return piece < devices; }
    bool is_network_switch(int piece) const
    {
        const Piece& p = pieces[static_cast<std::size_t>(piece)];
        return p.kind == Piece::Kind::switch_ && p.switch_kind == SwitchKind::network;
    }
    bool is_nvswitch(int piece) const
    {
        const Piece& p = pieces[static_cast<std::size_t>(piece)];
        return p.kind == Piece::Kind::switch_ && p.switch_kind == SwitchKind::nvswitch;
    }
};

// Links whose ends are unknown are left out (the checks report them); of equal names the first
// counts.
ExplicitPieces put_together(const ExplicitDescription& description);

} // namespace trainyard
