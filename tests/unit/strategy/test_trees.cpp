#include "sim/strategy/bind/trees.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <map>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

std::vector<RankId> members_of(int nodes, int per_node)
{
    std::vector<RankId> members;
    for (int node = 0; node < nodes; ++node)
        for (int i = 0; i < per_node; ++i)
            members.push_back(make_id<RankId>(static_cast<std::size_t>(8 * node + i)));
    return members;
}

// By tree and child.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
parents(const std::vector<TreeEdge>& edges)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> out;
    for (const TreeEdge& edge : edges)
        CHECK(out.emplace(std::pair(edge.tree, edge.child), edge.parent).second);
    return out;
}

} // namespace

TEST_CASE("the two trees of a group each lead every member to the root of its rail")
{
    for (const int nodes : {2, 3, 5, 8, 13})
        for (const int per_node : {1, 8}) {
            const std::vector<RankId> members = members_of(nodes, per_node);
            const auto edges = tree_edges(members, h100_nodes(nodes));
            const auto above = parents(edges);
            CHECK(edges.size() == static_cast<std::size_t>(2 * (nodes - 1) * per_node));
            for (std::uint32_t tree = 0; tree < 2; ++tree) {
                std::map<std::uint32_t, int> reached; // roots
                for (std::uint32_t member = 0; member < members.size(); ++member) {
                    std::uint32_t at = member;
                    int climbed = 0;
                    for (auto up = above.find({tree, at}); up != above.end();
                         up = above.find({tree, at})) {
                        at = up->second;
                        REQUIRE(++climbed <= 4); // ceil(log2 13)
                    }
                    CHECK(at % static_cast<std::uint32_t>(per_node) ==
                          member % static_cast<std::uint32_t>(per_node));
                    ++reached[at];
                }
                CHECK(reached.size() == static_cast<std::size_t>(per_node));
            }
        }
}

TEST_CASE("who passes data on in one tree is a leaf of the other")
{
    // So that every member sends about as much: 2(D-1) edges, two ways each, over D members.
    for (const int nodes : {2, 4, 7, 8, 16}) {
        const auto edges = tree_edges(members_of(nodes, 1), h100_nodes(nodes));
        std::map<std::uint32_t, std::size_t> sends;
        for (const TreeEdge& edge : edges) {
            ++sends[edge.child];
            ++sends[edge.parent];
        }
        for (const auto& [member, count] : sends)
            CHECK(count <= 4); // up in both trees, down to two children in one
    }
}

TEST_CASE("inside one domain a tree is a chain")
{
    const auto edges = tree_edges(members_of(1, 4), h100_nodes(1));
    CHECK(edges == std::vector<TreeEdge>{{1, 0, 0}, {2, 1, 0}, {3, 2, 0}});
}
