#include "gui/topology/cluster_graph.h"

#include "gui/topology/cluster_pieces.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>

namespace trainyard::gui {

namespace {

constexpr int most_units = 64; // side by side before they fold into pods
constexpr int nodes_per_pod = 64;
constexpr std::size_t most_at_once = 16; // nodes that a pod opens into; more come in ...
constexpr std::size_t nodes_per_part = 8;
constexpr int least_per_pod = 4;          // racks
constexpr std::size_t most_switches = 64; // of one row

// Nodes, racks, pods: what stands side by side and has a run of nodes in it.
struct Box {
    PlaceKind kind = PlaceKind::node;
    std::string name;
    int first = 0; // nodes
    int last = 0;
    std::vector<Box> children{};

    bool holds(int from, int to) const { return first <= from && to <= last; }
};

std::vector<Box> units_of(const TopologyModel& model)
{
    std::vector<Box> units;
    int node = 0;
    for (int d = 0; d < model.domain_count(); ++d) {
        const int nodes = model.nodes_in_domain(make_id<DomainId>(static_cast<std::size_t>(d)));
        Box rack{PlaceKind::rack, fmt::format("rack {}", d), node, node + nodes - 1};
        for (int i = 0; i < nodes; ++i, ++node)
            rack.children.push_back({PlaceKind::node, fmt::format("node {}", node), node, node});
        if (nodes == 1)
            units.push_back(std::move(rack.children.front()));
        else
            units.push_back(std::move(rack));
    }
    return units;
}

// `per_group` neighbours each.
std::vector<Box> grouped(std::vector<Box> boxes, PlaceKind kind, const char* name,
                         std::size_t per_group)
{
    std::vector<Box> groups;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (i % per_group == 0)
            groups.push_back({kind, fmt::format("{} {}", name, groups.size()), boxes[i].first, 0});
        groups.back().last = boxes[i].last;
        groups.back().children.push_back(std::move(boxes[i]));
    }
    return groups;
}

// A pod opens by parts: neighbours, not all of its nodes at once.
void split_into_parts(Box& pod)
{
    if (pod.children.size() <= most_at_once || pod.children.front().kind != PlaceKind::node)
        return;
    pod.children = grouped(std::move(pod.children), PlaceKind::part, "nodes", nodes_per_part);
    for (Box& part : pod.children)
        part.name = part.first == part.last ? fmt::format("node {}", part.first)
                                            : fmt::format("nodes {}-{}", part.first, part.last);
}

Box boxes_of(const TopologyModel& model)
{
    std::vector<Box> units = units_of(model);
    if (units.size() > most_units) {
        const int per_domain = model.nodes_in_domain(DomainId{0});
        units = grouped(std::move(units), PlaceKind::pod, "pod",
                        static_cast<std::size_t>(
                            std::max(least_per_pod, nodes_per_pod / std::max(1, per_domain))));
        for (Box& pod : units)
            split_into_parts(pod);
    }
    if (units.size() > most_units)
        units = grouped(std::move(units), PlaceKind::zone, "zone", most_units / 2);
    return {PlaceKind::cluster, model.name(), 0, model.node_count() - 1, std::move(units)};
}

const char* plural(Layer layer)
{
    return layer == Layer::leaf ? "leaves" : layer == Layer::spine ? "spines" : "cores";
}

struct LayerRange {
    Layer lowest;
    Layer highest;
};

// Writes the tree down, parents first.
class Writer {
public:
    Writer(ClusterGraph& out, const PieceList& list)
        : out_(out), list_(list), place_of_(list.pieces.size(), no_place)
    {
        for (std::uint32_t i = 0; i < list.pieces.size(); ++i)
            if (list.pieces[i].layer < Layer::leaf && list.pieces[i].first == list.pieces[i].last)
                in_node_[list.pieces[i].first].push_back(i);
            else
                others_.push_back(i);
    }

    std::vector<std::uint32_t> write(const Box& cluster)
    {
        sort_into_boxes(cluster);
        write_box(cluster, no_place);
        return std::move(place_of_);
    }

private:
    // The smallest box with all that the piece serves.
    const Box* box_of(const Box& root, const ListedPiece& piece) const
    {
        const Box* box = &root;
        for (;;) {
            const auto child = std::ranges::find_if(
                box->children, [&](const Box& b) { return b.holds(piece.first, piece.last); });
            if (child == box->children.end())
                return box;
            box = &*child;
        }
    }

    void sort_into_boxes(const Box& cluster)
    {
        for (const std::uint32_t i : others_)
            over_[box_of(cluster, list_.pieces[i])].push_back(i);
        for (auto& [box, pieces] : over_)
            std::ranges::stable_sort(pieces, {}, [&](std::uint32_t i) {
                const ListedPiece& piece = list_.pieces[i];
                return std::tuple(piece.layer, trailing_number(piece.name));
            });
    }

    std::uint32_t add(Place place, std::uint32_t parent)
    {
        place.parent = parent;
        out_.places.push_back(std::move(place));
        return static_cast<std::uint32_t>(out_.places.size() - 1);
    }

    void close(std::uint32_t place)
    {
        Place& at = out_.places[place];
        at.end = static_cast<std::uint32_t>(out_.places.size());
        if (at.parent == no_place)
            return;
        out_.places[at.parent].gpus += at.gpus;
        out_.places[at.parent].pieces += at.pieces;
    }

    void write_piece(std::uint32_t piece, std::uint32_t parent, std::uint32_t over)
    {
        const ListedPiece& from = list_.pieces[piece];
        const std::uint32_t place = add({PlaceKind::piece, from.layer, from.name}, parent);
        out_.places[place].over = over;
        out_.places[place].gpus = from.layer == Layer::gpu ? 1 : 0;
        out_.places[place].pieces = 1;
        place_of_[piece] = place;
        close(place);
    }

    std::uint32_t write_box(const Box& box, std::uint32_t parent)
    {
        const std::uint32_t place = add({box.kind, Layer::gpu, box.name}, parent);
        std::vector<std::pair<const Box*, std::uint32_t>> inside;
        for (const Box& child : box.children)
            inside.emplace_back(&child, write_box(child, place));
        if (box.kind == PlaceKind::node)
            if (const auto own = in_node_.find(box.first); own != in_node_.end()) {
                std::ranges::stable_sort(own->second, {}, [&](std::uint32_t i) {
                    return std::pair(list_.pieces[i].layer, trailing_number(list_.pieces[i].name));
                });
                for (const std::uint32_t piece : own->second)
                    write_piece(piece, place, no_place);
            }
        for (const auto& [child, at] : inside)
            write_over(*child, place, at, {Layer::leaf, Layer::core});
        // The cluster has nobody above to stand in.
        write_over(box, place, place,
                   {Layer::nvswitch, parent == no_place ? Layer::core : Layer::nic});
        close(place);
        return place;
    }

    // Switches of the fabric that serve a box stand in its parent, so that they stay when it folds;
    // what joins the nodes of a rack folds with it.
    void write_over(const Box& box, std::uint32_t parent, std::uint32_t over, LayerRange layers)
    {
        const auto found = over_.find(&box);
        if (found == over_.end())
            return;
        const std::vector<std::uint32_t>& pieces = found->second;
        for (std::size_t first = 0; first < pieces.size();) {
            std::size_t end = first;
            const Layer layer = list_.pieces[pieces[first]].layer;
            while (end < pieces.size() && list_.pieces[pieces[end]].layer == layer)
                ++end;
            if (layers.lowest <= layer && layer <= layers.highest)
                write_rows(std::span(pieces).subspan(first, end - first), parent, over);
            first = end;
        }
    }

    // More than a handful fold into rows.
    void write_rows(std::span<const std::uint32_t> pieces, std::uint32_t parent, std::uint32_t over)
    {
        constexpr std::size_t handful = 4;
        const Layer layer = list_.pieces[pieces.front()].layer;
        if (pieces.size() <= handful || layer < Layer::leaf) {
            for (const std::uint32_t piece : pieces)
                write_piece(piece, parent, over);
            return;
        }
        const std::size_t rows = (pieces.size() + most_switches - 1) / most_switches;
        const std::size_t per_row = (pieces.size() + rows - 1) / rows;
        for (std::size_t first = 0; first < pieces.size(); first += per_row) {
            const auto row = pieces.subspan(first, std::min(per_row, pieces.size() - first));
            const std::uint32_t place =
                add({PlaceKind::switches, layer,
                     fmt::format("{} {}-{}", plural(layer),
                                 trailing_number(list_.pieces[row.front()].name),
                                 trailing_number(list_.pieces[row.back()].name))},
                    parent);
            out_.places[place].over = over;
            for (const std::uint32_t piece : row)
                write_piece(piece, place, over);
            close(place);
        }
    }

    ClusterGraph& out_;
    const PieceList& list_;
    std::map<int, std::vector<std::uint32_t>> in_node_;
    std::vector<std::uint32_t> others_; // switches of several nodes
    std::map<const Box*, std::vector<std::uint32_t>> over_;
    std::vector<std::uint32_t> place_of_; // by piece
};

} // namespace

ClusterGraph::ClusterGraph(std::shared_ptr<const Topology> of) : topology(std::move(of))
{
    const PieceList list = list_pieces(*topology);
    const Box cluster = boxes_of(topology->model());
    const std::vector<std::uint32_t> place_of = Writer(*this, list).write(cluster);
    const auto placed = [&](const std::vector<PlacePair>& pairs) {
        std::vector<PlacePair> out;
        out.reserve(pairs.size());
        for (const PlacePair& pair : pairs)
            out.push_back({place_of[pair.from], place_of[pair.to]});
        return out;
    };
    links = placed(list.links);
    stubs = placed(list.stubs);
}

std::uint32_t ClusterGraph::find(std::string_view name) const
{
    const auto found = std::ranges::find_if(places, [&](const Place& place) {
        return place.kind == PlaceKind::piece && place.name == name;
    });
    return found == places.end() ? no_place : static_cast<std::uint32_t>(found - places.begin());
}

const char* layer_title(Layer layer)
{
    switch (layer) {
    case Layer::nvswitch:
        return "NVSwitch";
    case Layer::gpu:
        return "GPU";
    case Layer::cpu:
        return "CPU";
    case Layer::pcie:
        return "PCIe";
    case Layer::nic:
        return "NIC";
    case Layer::leaf:
        return "leaf";
    case Layer::spine:
        return "spine";
    case Layer::core:
        break;
    }
    return "core";
}

} // namespace trainyard::gui
