#include "sim/topology/explicit_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include <functional>
#include <limits>

namespace trainyard {
namespace {

struct Cost {
    int slow_links = 0; // other than NVLink
    int links = 0;
    std::int64_t picoseconds = 0;

    friend auto operator<=>(const Cost&, const Cost&) = default;
};

constexpr Cost infinite{std::numeric_limits<int>::max(), std::numeric_limits<int>::max(), 0};

Cost add(const Cost& a, const Cost& b)
{
    if (a == infinite || b == infinite)
        return infinite;
    return {a.slow_links + b.slow_links, a.links + b.links, a.picoseconds + b.picoseconds};
}

// One link between two vertices.
struct Step {
    int link = 0;
    int to = 0;
    Cost cost;
};

// Against the direction of travel: distances *to* a device are wanted.
using Reversed =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Step>;

} // namespace

// A device is three vertices: where its messages start, where messages to it end, and the passage
// of messages that came over NVLink. Device d: d, devices + d, 2 devices + d; the rest follows.
struct ExplicitGraph::Implementation {
    Implementation(const ExplicitPieces& all, const std::function<bool(LinkId)>& cut);

    int start(int device) const { return device; }
    int end(int device) const { return pieces.devices + device; }
    int passage(int device) const { return 2 * pieces.devices + device; }

    int node_of(int device) const { return pieces.pieces[static_cast<std::size_t>(device)].node; }
    int domain_of(int device) const
    {
        return pieces.domain_of_node[static_cast<std::size_t>(node_of(device))];
    }

    // Whether messages from `from` may go through this vertex, on the way to a device of the same
    // domain (`inside`) or of another.
    bool open(int vertex, int from, bool inside) const;

    std::vector<Cost> costs_to(int from, int to) const;

    ExplicitPieces pieces;
    std::vector<std::vector<Step>> steps; // by vertex, in the order of the links
    Reversed reversed;
};

ExplicitGraph::Implementation::Implementation(const ExplicitPieces& all,
                                              const std::function<bool(LinkId)>& cut)
    : pieces(all),
      steps(all.pieces.size() + 2 * static_cast<std::size_t>(all.devices)),
      reversed(steps.size())
{
    const auto vertex = [&](int piece) { return piece + 2 * pieces.devices; };
    for (std::size_t i = 0; i < pieces.links.size(); ++i) {
        const DirectedLink& link = pieces.links[i];
        if (cut(make_id<LinkId>(i)))
            continue;
        const bool nvlink = link.link.kind == LinkKind::nvlink;
        const Cost cost{nvlink ? 0 : 1, 1, to_sim_time(link.link.latency).value()};
        std::vector<int> sources{vertex(link.from)};
        std::vector<int> targets{vertex(link.to)};
        if (pieces.is_device(link.from))
            sources = {start(link.from), passage(link.from)};
        if (pieces.is_device(link.to))
            targets = nvlink ? std::vector<int>{end(link.to), passage(link.to)}
                             : std::vector<int>{end(link.to)};
        for (const int source : sources)
            for (const int target : targets) {
                const Step step{static_cast<int>(i), target, cost};
                steps[static_cast<std::size_t>(source)].push_back(step);
                boost::add_edge(static_cast<std::size_t>(target), static_cast<std::size_t>(source),
                                step, reversed);
            }
    }
}

bool ExplicitGraph::Implementation::open(int vertex, int from, bool inside) const
{
    const int device = vertex - 2 * pieces.devices;
    if (device < 0 || device >= pieces.devices)
        return true;
    return node_of(device) == node_of(from) || (inside && domain_of(device) == domain_of(from));
}

std::vector<Cost> ExplicitGraph::Implementation::costs_to(int from, int to) const
{
    const bool inside = domain_of(from) == domain_of(to);
    const auto open_vertex = [this, from, inside](std::size_t vertex) {
        return open(static_cast<int>(vertex), from, inside);
    };
    const boost::filtered_graph<Reversed, boost::keep_all, std::function<bool(std::size_t)>> graph(
        reversed, boost::keep_all(), open_vertex);
    std::vector<Cost> costs(steps.size(), infinite);
    boost::dijkstra_shortest_paths(graph, static_cast<std::size_t>(end(to)),
                                   boost::weight_map(boost::get(&Step::cost, graph))
                                       .distance_map(boost::make_iterator_property_map(
                                           costs.begin(), boost::get(boost::vertex_index, graph)))
                                       .distance_compare(std::less<Cost>())
                                       .distance_combine(&add)
                                       .distance_inf(infinite)
                                       .distance_zero(Cost{}));
    return costs;
}

ExplicitGraph::ExplicitGraph(const ExplicitPieces& pieces, const std::function<bool(LinkId)>& cut)
    : graph_(std::make_unique<Implementation>(pieces, cut))
{}

ExplicitGraph::~ExplicitGraph() = default;

std::vector<LinkId> ExplicitGraph::route(int from, int to, PathChoice& choice) const
{
    const std::vector<Cost> costs = graph_->costs_to(from, to);
    const auto cost = [&](int vertex) { return costs[static_cast<std::size_t>(vertex)]; };
    const bool inside = graph_->domain_of(from) == graph_->domain_of(to);
    std::vector<LinkId> path;
    int at = graph_->start(from);
    if (cost(at) == infinite)
        return path;
    while (at != graph_->end(to)) {
        std::vector<const Step*> next;
        for (const Step& step : graph_->steps[static_cast<std::size_t>(at)])
            if (graph_->open(step.to, from, inside) && cost(step.to) != infinite &&
                add(step.cost, cost(step.to)) == cost(at))
                next.push_back(&step);
        const Step& taken = *next[choice.choose(path.size(), next.size())];
        path.push_back(make_id<LinkId>(static_cast<std::size_t>(taken.link)));
        at = taken.to;
    }
    return path;
}

std::vector<bool> ExplicitGraph::reachable_from(int from) const
{
    const int devices = graph_->pieces.devices;
    std::vector<bool> reached(static_cast<std::size_t>(devices));
    for (const bool inside : {false, true}) {
        std::vector<bool> seen(graph_->steps.size());
        std::vector<int> stack{graph_->start(from)};
        while (!stack.empty()) {
            const int at = stack.back();
            stack.pop_back();
            for (const Step& step : graph_->steps[static_cast<std::size_t>(at)])
                if (!seen[static_cast<std::size_t>(step.to)] && graph_->open(step.to, from, inside))
                {
                    seen[static_cast<std::size_t>(step.to)] = true;
                    stack.push_back(step.to);
                }
        }
        for (int device = 0; device < devices; ++device)
            if ((graph_->domain_of(device) == graph_->domain_of(from)) == inside)
                reached[static_cast<std::size_t>(device)] =
                    device == from || seen[static_cast<std::size_t>(graph_->end(device))];
    }
    return reached;
}

Bandwidth ExplicitGraph::cut(const std::vector<bool>& first_half) const
{
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using Edge = Traits::edge_descriptor;
    using FlowGraph = boost::adjacency_list<
        boost::vecS, boost::vecS, boost::directedS, boost::no_property,
        boost::property<boost::edge_capacity_t, std::int64_t,
                        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                        boost::property<boost::edge_reverse_t, Edge>>>>;
    const ExplicitPieces& pieces = graph_->pieces;
    const std::size_t source = pieces.pieces.size();
    FlowGraph flow(source + 2);
    std::int64_t total = 0;
    const auto add_arc = [&](std::size_t from, std::size_t to, std::int64_t capacity) {
        const Edge there = boost::add_edge(from, to, flow).first;
        const Edge back = boost::add_edge(to, from, flow).first;
        boost::put(boost::edge_capacity, flow, there, capacity);
        boost::put(boost::edge_capacity, flow, back, 0);
        boost::put(boost::edge_reverse, flow, there, back);
        boost::put(boost::edge_reverse, flow, back, there);
    };
    for (const DirectedLink& link : pieces.links) {
        const auto capacity = static_cast<std::int64_t>(link.link.capacity.value());
        add_arc(static_cast<std::size_t>(link.from), static_cast<std::size_t>(link.to), capacity);
        total += capacity;
    }
    for (std::size_t device = 0; device < first_half.size(); ++device) {
        if (first_half[device])
            add_arc(source, device, total);
        else
            add_arc(device, source + 1, total);
    }
    return Bandwidth(static_cast<double>(boost::push_relabel_max_flow(flow, source, source + 1)));
}

} // namespace trainyard
