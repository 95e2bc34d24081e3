#include "sim/traces/execution/dependencies.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

namespace trainyard {
namespace {

constexpr std::uint32_t no_node = ~std::uint32_t{0};

// Waits by the places of nodes instead of their ids, both ways.
class WaitGraph {
public:
    explicit WaitGraph(const ExecutionTrace& trace) : trace_(trace)
    {
        const auto places = places_of_nodes(trace);
        places_.reserve(trace.waits.size());
        followers_of_.assign(trace.nodes.size() + 1, 0);
        for (const std::uint64_t id : trace.waits) {
            const auto at = places.find(id);
            places_.push_back(at == places.end() ? no_node : at->second);
            if (at != places.end())
                ++followers_of_[at->second + 1];
        }
        for (std::size_t i = 1; i < followers_of_.size(); ++i)
            followers_of_[i] += followers_of_[i - 1];
        followers_.resize(followers_of_.back());
        std::vector<std::size_t> next(followers_of_.begin(), followers_of_.end() - 1);
        for (std::uint32_t i = 0; i < trace.nodes.size(); ++i)
            for (const std::uint32_t before : waits_of(i))
                if (before != no_node)
                    followers_[next[before]++] = i;
    }

    std::span<const std::uint32_t> waits_of(std::uint32_t node) const
    {
        const GraphNode& of = trace_.nodes[node];
        return std::span(places_).subspan(of.first_wait, of.wait_count);
    }
    std::span<const std::uint32_t> followers(std::uint32_t node) const
    {
        return std::span(followers_)
            .subspan(followers_of_[node], followers_of_[node + 1] - followers_of_[node]);
    }

private:
    const ExecutionTrace& trace_;
    std::vector<std::uint32_t> places_; // as ExecutionTrace::waits; no_node: the trace has it not
    std::vector<std::size_t> followers_of_; // first of each node's
    std::vector<std::uint32_t> followers_;
};

// Of nodes that wait for each other: from one that is left over back until one comes again.
std::string circle(const ExecutionTrace& trace, const WaitGraph& graph,
                   const std::vector<std::uint32_t>& left)
{
    const auto waiting =
        std::find_if(left.begin(), left.end(), [](std::uint32_t n) { return n > 0; });
    auto at = static_cast<std::uint32_t>(waiting - left.begin());
    std::vector<bool> seen(left.size(), false);
    while (!seen[at]) {
        seen[at] = true;
        for (const std::uint32_t before : graph.waits_of(at))
            if (before != no_node && left[before] > 0) {
                at = before;
                break;
            }
    }
    std::size_t length = 0;
    const std::uint32_t first = at;
    std::uint32_t next = at;
    do {
        for (const std::uint32_t before : graph.waits_of(at))
            if (before != no_node && left[before] > 0) {
                at = before;
                break;
            }
        next = length++ == 0 ? at : next;
    } while (at != first);
    if (length == 1)
        return fmt::format("node {} waits for itself", trace.nodes[first].id);
    return fmt::format("node {} waits for node {}, and that, over {} nodes, for the first",
                       trace.nodes[first].id, trace.nodes[next].id, length);
}

} // namespace

Checked<GraphFacts> chains_of(const ExecutionTrace& trace, const std::vector<bool>& works)
{
    const WaitGraph graph(trace);
    const auto count = static_cast<std::uint32_t>(trace.nodes.size());
    std::vector<std::uint32_t> left(count, 0);
    std::vector<std::uint32_t> ready;
    GraphFacts facts;
    facts.nodes = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (const std::uint32_t before : graph.waits_of(i)) {
            ++(before == no_node ? facts.waits_for_unknown : facts.waits);
            left[i] += before == no_node ? 0 : 1;
        }
        if (left[i] == 0)
            ready.push_back(i);
    }
    std::vector<std::uint64_t> depths(count, 0); // up to and with the node
    std::vector<TraceTime> ends(count);
    std::size_t done = 0;
    while (!ready.empty()) {
        const std::uint32_t at = ready.back();
        ready.pop_back();
        ++done;
        depths[at] += works[at] ? 1 : 0;
        ends[at] += trace.nodes[at].duration;
        facts.depth = std::max(facts.depth, depths[at]);
        facts.critical_path = std::max(facts.critical_path, to_seconds(ends[at]));
        for (const std::uint32_t follower : graph.followers(at)) {
            depths[follower] = std::max(depths[follower], depths[at]);
            ends[follower] = std::max(ends[follower], ends[at]);
            if (--left[follower] == 0)
                ready.push_back(follower);
        }
    }
    if (done < count)
        return rejected(trace.file, circle(trace, graph, left),
                        "dependencies of a trace have no circles");
    return facts;
}

} // namespace trainyard
