#include "sim/engine/steps/step_plan.h"

#include <algorithm>
#include <map>

namespace trainyard::engine {

namespace {

// Chunks that a chain or a tree passes on: beside them its filling counts little.
constexpr std::uint32_t chunks_per_member = 8;
constexpr std::uint32_t chunks_of_tree = 64;

using WireLists = std::vector<std::vector<std::uint32_t>>;

NumberLists lists_of(const WireLists& lists)
{
    NumberLists out;
    for (const auto& list : lists) {
        out.numbers.insert(out.numbers.end(), list.begin(), list.end());
        out.ends.push_back(static_cast<std::uint32_t>(out.numbers.size()));
    }
    return out;
}

// Fills what follows from wires and needs.
void link_up(StepPlan& plan, const WireLists& needs)
{
    WireLists feeds(plan.wires.size());
    WireLists leaving(plan.members);
    for (std::uint32_t w = 0; w < plan.wires.size(); ++w) {
        leaving[plan.wires[w].from].push_back(w);
        for (const std::uint32_t need : needs[w])
            feeds[need].push_back(w);
    }
    plan.needs = lists_of(needs);
    plan.feeds = lists_of(feeds);
    plan.leaving = lists_of(leaving);
}

// Wires that pass chunks on begin one round behind the last of those they need.
void let_lag(StepPlan& plan, const WireLists& needs)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t w = 0; w < plan.wires.size(); ++w)
            for (const std::uint32_t need : needs[w])
                if (plan.wires[w].lag <= plan.wires[need].lag) {
                    plan.wires[w].lag = plan.wires[need].lag + 1;
                    changed = true;
                }
    }
    for (const Wire& wire : plan.wires)
        plan.most_lag = std::max(plan.most_lag, wire.lag);
}

// Wire 2e goes up edge e, wire 2e + 1 down.
WireLists add_tree(StepPlan& plan, const std::vector<TreeEdge>& edges)
{
    WireLists needs(2 * edges.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> up; // tree, child: edge
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> children;
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
        const TreeEdge& edge = edges[e];
        plan.wires.push_back({edge.child, edge.parent, 2 * e});
        plan.wires.push_back({edge.parent, edge.child, 2 * e + 1});
        up[{edge.tree, edge.child}] = e;
        children[{edge.tree, edge.parent}].push_back(2 * e);
    }
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
        const TreeEdge& edge = edges[e];
        needs[2 * e] = children[{edge.tree, edge.child}];
        const auto above = up.find({edge.tree, edge.parent});
        if (above != up.end())
            needs[2 * e + 1] = {2 * above->second + 1};
        else
            needs[2 * e + 1] = children[{edge.tree, edge.parent}];
    }
    return needs;
}

} // namespace

StepShape step_shape(CollectiveKind kind, TrafficPattern pattern)
{
    switch (pattern) {
    case TrafficPattern::all_to_all:
        return StepShape::direct;
    case TrafficPattern::neighbours:
        return StepShape::pass;
    case TrafficPattern::tree:
        return StepShape::tree;
    case TrafficPattern::nvls:
        return StepShape::none;
    case TrafficPattern::ring:
        break;
    }
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
        return StepShape::ring;
    case CollectiveKind::broadcast:
        return StepShape::from_first;
    case CollectiveKind::reduce:
        return StepShape::to_first;
    default:
        return StepShape::none;
    }
}

std::uint32_t step_count(StepShape shape, CollectiveKind kind, std::uint32_t ranks)
{
    switch (shape) {
    case StepShape::pass:
        return 1;
    case StepShape::from_first:
    case StepShape::to_first:
        return chunks_per_member * ranks;
    case StepShape::tree:
        return chunks_of_tree;
    default:
        return (kind == CollectiveKind::all_reduce ? 2 : 1) * (ranks - 1);
    }
}

const Ways& ways_of(const Group& group, StepShape shape)
{
    switch (shape) {
    case StepShape::direct:
        return group.pairs;
    case StepShape::pass:
        return group.neighbour_hops;
    case StepShape::tree:
        return group.tree_ways;
    default:
        return group.ring_hops;
    }
}

StepPlan step_plan(const Group& group, StepShape shape)
{
    const auto members = static_cast<std::uint32_t>(group.members.size());
    const bool chain = shape == StepShape::from_first || shape == StepShape::to_first;
    StepPlan plan;
    plan.shape = shape;
    plan.members = members;
    plan.ranks = group.ranks;
    plan.ahead = chain || shape == StepShape::tree ? 1 : 0;
    plan.ways = &ways_of(group, shape);
    WireLists needs;
    if (shape == StepShape::tree) {
        needs = add_tree(plan, group.tree_edges);
    } else {
        const std::uint32_t head = shape == StepShape::to_first ? 1 : 0;
        const std::uint32_t count = chain ? members - 1 : members;
        needs.resize(count);
        for (std::uint32_t w = 0; w < count; ++w) {
            const std::uint32_t from = w + head;
            plan.wires.push_back({from, (from + 1) % members, from});
            if (shape == StepShape::ring)
                needs[w] = {(w + members - 1) % members};
            else if (chain && w > 0)
                needs[w] = {w - 1};
        }
    }
    if (plan.ahead > 0)
        let_lag(plan, needs);
    link_up(plan, needs);
    return plan;
}

} // namespace trainyard::engine
