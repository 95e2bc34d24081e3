#pragma once

// A cluster as things that are drawn: a tree of what folds (pods, racks, nodes, rows of switches)
// down to single pieces, and which pieces each link joins.

#include "sim/topology/topology_model.h"

#include <memory>

namespace trainyard::gui {

// From the bottom up: what scales up lies below the GPUs, what scales out above them.
enum class Layer : std::uint8_t { nvswitch, gpu, cpu, pcie, nic, leaf, spine, core };
inline constexpr std::size_t layer_count = 8;

// Parts are what a pod of many nodes opens into.
enum class PlaceKind : std::uint8_t { cluster, zone, pod, part, rack, node, switches, piece };

inline constexpr std::uint32_t no_place = 0xffffffff;

struct Place {
    PlaceKind kind = PlaceKind::piece;
    Layer layer = Layer::gpu; // of pieces and rows of switches
    std::string name;         // of pieces as in links' names, "pod 3", "leaves 0-63"
    std::uint32_t parent = no_place;
    std::uint32_t end = 0;         // behind all that hangs in it
    std::uint32_t over = no_place; // what a switch of the fabric, or a row of them, stands over
    std::uint32_t gpus = 0;        // in it
    std::uint32_t pieces = 0;      // in it, or 1

    bool operator==(const Place&) const = default;
};

struct PlacePair {
    std::uint32_t from = no_place;
    std::uint32_t to = no_place;

    auto operator<=>(const PlacePair&) const = default;
};

struct ClusterGraph {
    // Of a cluster with its links in a good state. A second per some hundred thousand devices.
    explicit ClusterGraph(std::shared_ptr<const Topology> of);

    bool leaf(std::uint32_t place) const { return places[place].kind == PlaceKind::piece; }
    // The piece of that name; no_place: none.
    std::uint32_t find(std::string_view name) const;

    std::shared_ptr<const Topology> topology;
    std::vector<Place> places;    // a parent before its children; the first is the cluster
    std::vector<PlacePair> links; // by LinkId: the pieces at its ends
    // Joined without a link of their own: NICs of compact clusters to what they are plugged into.
    std::vector<PlacePair> stubs;
};

// "GPU", "NVSwitch", ...
const char* layer_title(Layer layer);

} // namespace trainyard::gui
