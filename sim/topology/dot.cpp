#include "sim/topology/dot.h"

#include "sim/base/units.h"
#include "sim/topology/summary.h"

#include <fmt/core.h>

#include <map>

namespace trainyard {
namespace {

std::string quoted(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + "\"";
}

std::string in_full(const Topology& topology)
{
    const TopologyModel& model = topology.model();
    std::string out = fmt::format("graph {} {{\n  node [shape=ellipse];\n",
                                  quoted(topology.name().empty() ? "topology" : topology.name()));
    for (std::size_t node = 0; node < static_cast<std::size_t>(topology.node_count()); ++node) {
        out += fmt::format("  subgraph cluster_{} {{\n", node);
        for (const DeviceId device : topology.devices_of(make_id<NodeId>(node)))
            out += fmt::format("    {} [shape=box];\n", quoted(model.device_name(device)));
        out += "  }\n";
    }
    // Links between the same two, both directions and parallel ones, are one line.
    struct Bundle {
        int there = 0;
        int back = 0;
        Bandwidth capacity;
    };
    std::map<std::pair<std::string, std::string>, Bundle> bundles;
    for (std::size_t i = 0; i < topology.link_count(); ++i) {
        const LinkEnds ends = model.link_ends(make_id<LinkId>(i));
        const auto there = bundles.find({ends.to, ends.from});
        if (there != bundles.end()) {
            ++there->second.back;
            continue;
        }
        Bundle& bundle = bundles[{ends.from, ends.to}];
        ++bundle.there;
        bundle.capacity = topology.link(make_id<LinkId>(i)).capacity;
    }
    for (const auto& [ends, bundle] : bundles)
        out +=
            fmt::format("  {} -- {} [label=\"{}{}\"{}];\n", quoted(ends.first), quoted(ends.second),
                        bundle.there > 1 ? fmt::format("{} x ", bundle.there) : "",
                        to_display(bundle.capacity), bundle.back == 0 ? ", dir=forward" : "");
    return out + "}\n";
}

std::string in_layers(const Topology& topology)
{
    const TopologySummary s = summarize(topology);
    std::string out = fmt::format("graph {} {{\n  rankdir=BT;\n  node [shape=box];\n",
                                  quoted(s.name.empty() ? "topology" : s.name));
    std::string models;
    for (const auto& [model, count] : s.devices_by_model)
        models += (models.empty() ? "" : ", ") + model;
    out += fmt::format("  nodes [label=\"{} nodes\\n{} devices ({})\\n{} NVLink domains\"];\n",
                       s.nodes, s.devices, models, topology.domain_count());
    std::string below = "nodes";
    for (std::size_t i = 0; i < s.switches.size(); ++i) {
        const SwitchLayer& layer = s.switches[i];
        const std::string box = quoted(layer.name);
        out += fmt::format("  {} [label=\"{} {} switches\"];\n", box, layer.switches, layer.name);
        std::string label =
            fmt::format("{} x {} per node", s.network.nics, to_display(s.network.nic_rate));
        if (i > 0 && i - 1 < s.layers.size())
            label =
                fmt::format("{} links, {}\\noversubscription {:.3g}:1", s.layers[i - 1].links,
                            to_display(s.layers[i - 1].capacity), s.layers[i - 1].oversubscription);
        out += fmt::format("  {} -- {} [label=\"{}\"];\n", below, box, label);
        below = box;
    }
    return out + "}\n";
}

} // namespace

std::string to_dot(const Topology& topology, int max_nodes)
{
    return topology.node_count() <= max_nodes ? in_full(topology) : in_layers(topology);
}

} // namespace trainyard
