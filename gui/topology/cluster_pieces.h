#pragma once

// The pieces of a cluster (GPUs, NICs, switches, ...), found from its links.

#include "gui/topology/cluster_graph.h"

namespace trainyard::gui {

struct ListedPiece {
    std::string name;
    Layer layer = Layer::gpu;
    int first = -1; // the nodes that it is in or serves; -1: not known
    int last = -1;
};

struct PieceList {
    std::vector<ListedPiece> pieces;
    std::vector<PlacePair> links; // by LinkId; pieces
    std::vector<PlacePair> stubs;
};

PieceList list_pieces(const Topology& topology);

// The number at the end of a name, else 0.
int trailing_number(std::string_view name);

} // namespace trainyard::gui
