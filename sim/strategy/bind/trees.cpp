#include "sim/strategy/bind/trees.h"

#include "sim/topology/topology_model.h"

#include <map>

namespace trainyard {

namespace {

using Domains = std::vector<std::vector<std::uint32_t>>; // places of the members of each

Domains by_domain(std::span<const RankId> members, const Topology& topology)
{
    std::map<DomainId, std::vector<std::uint32_t>> domains;
    for (std::uint32_t i = 0; i < members.size(); ++i)
        domains[topology.model().placement(DeviceId{members[i].value}).domain].push_back(i);
    Domains out;
    for (auto& [domain, places] : domains)
        out.push_back(std::move(places));
    return out;
}

// Of node > 0 in a tree over `count` nodes whose root is 0: the node with its lowest bit cleared
// and the next higher one set, where there is such a node.
std::uint32_t parent_of(std::uint32_t node, std::uint32_t count)
{
    const std::uint32_t lowest = node & (~node + 1);
    const std::uint32_t cleared = node ^ lowest;
    const std::uint32_t parent = cleared | lowest << 1;
    return parent < count ? parent : cleared;
}

} // namespace

std::vector<TreeEdge> tree_edges(std::span<const RankId> members, const Topology& topology)
{
    const Domains domains = by_domain(members, topology);
    std::vector<TreeEdge> edges;
    const auto count = static_cast<std::uint32_t>(domains.size());
    if (count == 1) {
        for (std::uint32_t i = 1; i < members.size(); ++i)
            edges.push_back({i, i - 1, 0});
        return edges;
    }
    const auto second = [&](std::uint32_t node) {
        return count % 2 == 0 ? count - 1 - node : (node + 1) % count;
    };
    for (std::uint32_t tree = 0; tree < 2; ++tree)
        for (std::uint32_t node = 1; node < count; ++node) {
            const std::uint32_t above = parent_of(node, count);
            const auto& children = domains[tree == 0 ? node : second(node)];
            const auto& parents = domains[tree == 0 ? above : second(above)];
            for (std::size_t i = 0; i < children.size(); ++i)
                edges.push_back({children[i], parents[i % parents.size()], tree});
        }
    return edges;
}

} // namespace trainyard
