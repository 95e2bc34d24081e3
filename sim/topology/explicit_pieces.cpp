#include "sim/topology/explicit_pieces.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trainyard {
namespace {

class Assembly {
public:
    explicit Assembly(const ExplicitDescription& description) : description_(description) {}

    ExplicitPieces build()
    {
        add_pieces();
        add_links();
        find_layers();
        for (DirectedLink& link : out_.links)
            if (!description_.links[link.entry].kind)
                link.link.kind = kind_of(link);
        find_domains();
        return std::move(out_);
    }

private:
    void add_pieces()
    {
        for (const ExplicitDevice& device : description_.devices)
            add({Piece::Kind::device, device.name, node_number(device.node)});
        out_.devices = static_cast<int>(out_.pieces.size());
        for (const ExplicitSwitch& s : description_.switches)
            add({Piece::Kind::switch_, s.name, known_node(s.node), s.kind, s.reduction});
        for (const ExplicitNic& nic : description_.nics)
            add({Piece::Kind::nic, nic.name, known_node(nic.node)});
    }

    void add(Piece piece)
    {
        by_name_.emplace(piece.name, static_cast<int>(out_.pieces.size()));
        out_.pieces.push_back(std::move(piece));
    }

    int known_node(const std::string& name) const
    {
        const auto found = std::find(out_.nodes.begin(), out_.nodes.end(), name);
        return found == out_.nodes.end() ? -1 : static_cast<int>(found - out_.nodes.begin());
    }

    int node_number(const std::string& name)
    {
        // Devices of a node come together, so the last node is nearly always the one.
        if (!out_.nodes.empty() && out_.nodes.back() == name)
            return static_cast<int>(out_.nodes.size()) - 1;
        if (const int known = known_node(name); known >= 0)
            return known;
        out_.nodes.push_back(name);
        return static_cast<int>(out_.nodes.size()) - 1;
    }

    void add_links()
    {
        for (std::size_t entry = 0; entry < description_.links.size(); ++entry) {
            const ExplicitLink& given = description_.links[entry];
            const auto from = by_name_.find(given.from);
            const auto to = by_name_.find(given.to);
            if (from == by_name_.end() || to == by_name_.end() || from == to)
                continue;
            const LinkKind kind = given.kind.value_or(LinkKind::other);
            const Link link{kind, given.bandwidth, given.latency};
            const std::string there = given.from + " -> " + given.to;
            out_.links.push_back(
                {from->second, to->second, link, given.name.empty() ? there : given.name, entry});
            if (given.one_way)
                continue;
            const std::string back =
                given.name.empty() ? given.to + " -> " + given.from : given.name + " (back)";
            out_.links.push_back({to->second,
                                  from->second,
                                  {opposite(kind), link.capacity, link.latency},
                                  back,
                                  entry});
        }
    }

    static LinkKind opposite(LinkKind kind)
    {
        switch (kind) {
        case LinkKind::leaf_up:
            return LinkKind::leaf_down;
        case LinkKind::leaf_down:
            return LinkKind::leaf_up;
        case LinkKind::spine_up:
            return LinkKind::spine_down;
        case LinkKind::spine_down:
            return LinkKind::spine_up;
        default:
            return kind;
        }
    }

    // Layer 1: network switches with a link to something that is not one; then outwards.
    void find_layers()
    {
        std::vector<int> frontier;
        const auto reach = [&](int piece, int layer) {
            Piece& p = out_.pieces[static_cast<std::size_t>(piece)];
            if (!out_.is_network_switch(piece) || p.layer != 0)
                return;
            p.layer = layer;
            frontier.push_back(piece);
        };
        for (const DirectedLink& link : out_.links)
            if (!out_.is_network_switch(link.from))
                reach(link.to, 1);
        for (int layer = 2; !frontier.empty(); ++layer) {
            std::vector<bool> below(out_.pieces.size());
            for (const int piece : std::exchange(frontier, {}))
                below[static_cast<std::size_t>(piece)] = true;
            for (const DirectedLink& link : out_.links)
                if (below[static_cast<std::size_t>(link.from)])
                    reach(link.to, layer);
        }
    }

    LinkKind kind_of(const DirectedLink& link) const
    {
        const Piece& from = out_.pieces[static_cast<std::size_t>(link.from)];
        const Piece& to = out_.pieces[static_cast<std::size_t>(link.to)];
        const bool network_from = out_.is_network_switch(link.from);
        const bool network_to = out_.is_network_switch(link.to);
        if (network_from && network_to) {
            if (from.layer == to.layer || from.layer + to.layer > 5)
                return LinkKind::other;
            const bool up = from.layer < to.layer;
            if (std::min(from.layer, to.layer) == 1)
                return up ? LinkKind::leaf_up : LinkKind::leaf_down;
            return up ? LinkKind::spine_up : LinkKind::spine_down;
        }
        if (network_from || network_to)
            return LinkKind::nic;
        const bool both_devices = out_.is_device(link.from) && out_.is_device(link.to);
        if (both_devices || out_.is_nvswitch(link.from) || out_.is_nvswitch(link.to))
            return LinkKind::nvlink;
        return LinkKind::pcie;
    }

    // Nodes that NVLink joins, directly or through switches.
    void find_domains()
    {
        std::vector<int> leader(out_.pieces.size() + out_.nodes.size());
        std::iota(leader.begin(), leader.end(), 0);
        const auto find = [&](int x) {
            while (leader[static_cast<std::size_t>(x)] != x)
                x = leader[static_cast<std::size_t>(x)] =
                    leader[static_cast<std::size_t>(leader[static_cast<std::size_t>(x)])];
            return x;
        };
        const auto join = [&](int a, int b) {
            leader[static_cast<std::size_t>(find(a))] = find(b);
        };
        const int first_node = static_cast<int>(out_.pieces.size());
        for (int device = 0; device < out_.devices; ++device)
            join(device, first_node + out_.pieces[static_cast<std::size_t>(device)].node);
        for (const DirectedLink& link : out_.links)
            if (link.link.kind == LinkKind::nvlink)
                join(link.from, link.to);
        std::vector<int> leaders;
        for (int node = 0; node < static_cast<int>(out_.nodes.size()); ++node) {
            const int root = find(first_node + node);
            const auto known = std::find(leaders.begin(), leaders.end(), root);
            out_.domain_of_node.push_back(static_cast<int>(known - leaders.begin()));
            if (known == leaders.end())
                leaders.push_back(root);
        }
        out_.domains = static_cast<int>(leaders.size());
    }

    const ExplicitDescription& description_;
    ExplicitPieces out_;
    std::unordered_map<std::string, int> by_name_;
};

} // namespace

ExplicitPieces put_together(const ExplicitDescription& description)
{
    return Assembly(description).build();
}

} // namespace trainyard
