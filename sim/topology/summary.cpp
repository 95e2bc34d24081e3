#include "sim/topology/summary.h"

#include "sim/base/units.h"
#include "sim/topology/names.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

void count_links(const Topology& topology, TopologySummary& out)
{
    std::map<std::tuple<LinkKind, double, double>, std::int64_t> counts;
    for (std::size_t i = 0; i < topology.link_count(); ++i) {
        const Link link = topology.link(make_id<LinkId>(i));
        ++counts[{link.kind, link.capacity.value(), link.latency.value()}];
    }
    for (const auto& [key, links] : counts)
        out.links.push_back(
            {std::get<0>(key), links, Bandwidth(std::get<1>(key)), Seconds(std::get<2>(key))});
}

void count_devices(const Topology& topology, TopologySummary& out)
{
    std::vector<int> in_node(static_cast<std::size_t>(topology.node_count()));
    std::vector<int> in_domain(static_cast<std::size_t>(topology.domain_count()));
    for (std::size_t i = 0; i < static_cast<std::size_t>(topology.device_count()); ++i) {
        const DeviceAttachment device = topology.device(make_id<DeviceId>(i));
        ++out.devices_by_model[device.model];
        ++in_node[device.node.value];
        ++in_domain[device.domain.value];
    }
    for (const int size : in_node)
        ++out.nodes_by_size[size];
    for (const int size : in_domain)
        ++out.domains_by_size[size];
}

// "64 of 8 devices"
std::string counted(const std::map<int, int>& by_size)
{
    std::string out;
    for (const auto& [size, count] : by_size)
        out += fmt::format("{}{} of {}", out.empty() ? "" : ", ", count, size);
    return out + " devices";
}

std::string nvlink_text(const DeviceAttachment& device)
{
    if (device.nvlink.value() == 0)
        return fmt::format("none; PCIe {} per GPU and direction", to_display(device.pcie));
    return fmt::format("{} per GPU and direction, {}{}", to_display(device.nvlink),
                       device.nvswitch ? "through NVSwitch" : "direct links",
                       device.in_switch_reduction ? ", sums in the switch" : "");
}

std::string network_text(const TopologySummary& s)
{
    const NodeNetwork& n = s.network;
    return fmt::format("{} ({}), {} x {} per node, {} per GPU{}{}", n.name, to_name(n.transport),
                       n.nics, to_display(n.nic_rate), to_display(s.network_rate_per_device()),
                       n.gpu_direct ? "" : ", copies through host memory",
                       n.in_network_reduction ? ", sums in the switches" : "");
}

std::string row(std::string_view label, std::string_view text)
{
    return fmt::format("{:<15}{}\n", label, text);
}

std::string fabric_rows(const TopologySummary& s)
{
    std::string counts;
    for (const SwitchLayer& layer : s.switches)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", layer.switches, layer.name);
    std::string out;
    if (!counts.empty())
        out += row("switches",
                   fmt::format("{}; at most {} between two nodes", counts, s.network.switch_hops));
    for (const FabricLayer& layer : s.layers)
        out += row(layer.name, fmt::format("{} links, {}, oversubscription {:.3g}:1", layer.links,
                                           to_display(layer.capacity), layer.oversubscription));
    return out;
}

} // namespace

Bandwidth TopologySummary::network_rate_per_device() const
{
    return Bandwidth(network.nics * network.nic_rate.value() /
                     std::max(1, nodes_by_size.rbegin()->first));
}

TopologySummary summarize(const Topology& topology)
{
    TopologySummary out;
    out.name = topology.name();
    out.devices = topology.device_count();
    out.nodes = topology.node_count();
    out.device = topology.device(DeviceId{0});
    out.network = topology.network(NodeId{0});
    out.switches = topology.model().switch_layers();
    out.layers = topology.model().fabric_layers();
    out.bisection = topology.model().bisection();
    count_devices(topology, out);
    count_links(topology, out);
    return out;
}

std::string describe(const TopologySummary& s)
{
    std::string out = s.name.empty() ? "" : s.name + "\n";
    std::string models;
    for (const auto& [model, count] : s.devices_by_model)
        models += fmt::format("{}{} {}", models.empty() ? "" : ", ", count, model);
    out += row("devices", models);
    out += row("nodes", counted(s.nodes_by_size));
    out += row("nvlink domains", counted(s.domains_by_size));
    out += row("nvlink", nvlink_text(s.device));
    if (s.network.transport != Transport::none)
        out += row("network", network_text(s));
    out += fabric_rows(s);
    out +=
        row("bisection",
            fmt::format("{} each way, {} per device of a half", to_display(s.bisection),
                        to_display(Bandwidth(s.bisection.value() / std::max(1, s.devices / 2)))));
    out += fmt::format("\n{:<15}{:>10}  {:>10}  {:>10}\n", "links", "count", "each", "latency");
    for (const LinkClass& c : s.links)
        out += fmt::format("{:<15}{:>10}  {:>10}  {:>10}\n", to_name(c.kind), c.links,
                           to_display(c.capacity), to_display(c.latency));
    return out;
}

namespace {

Json by_size_json(const std::map<int, int>& by_size)
{
    Json out = Json::array();
    for (const auto& [size, count] : by_size) {
        Json item = Json::object();
        item["devices"] = size;
        item["count"] = count;
        out.push_back(std::move(item));
    }
    return out;
}

Json network_json(const NodeNetwork& n)
{
    Json out = Json::object();
    out["name"] = n.name;
    out["transport"] = to_name(n.transport);
    out["nics_per_node"] = n.nics;
    out["nic_bytes_per_s"] = n.nic_rate.value();
    out["gpu_direct"] = n.gpu_direct;
    out["in_network_reduction"] = n.in_network_reduction;
    out["oversubscription"] = n.oversubscription;
    out["switch_hops"] = n.switch_hops;
    return out;
}

} // namespace

Json to_json(const TopologySummary& s)
{
    Json out = Json::object();
    out["name"] = s.name;
    out["devices"] = s.devices;
    out["nodes"] = s.nodes;
    Json models = Json::object();
    for (const auto& [model, count] : s.devices_by_model)
        models[model] = count;
    out["devices_by_model"] = std::move(models);
    out["nodes_by_size"] = by_size_json(s.nodes_by_size);
    out["nvlink_domains"] = by_size_json(s.domains_by_size);
    out["network"] = network_json(s.network);
    out["switches"] = Json::object();
    for (const SwitchLayer& layer : s.switches)
        out["switches"][layer.name] = layer.switches;
    out["links"] = Json::array();
    for (const LinkClass& c : s.links) {
        Json item = Json::object();
        item["kind"] = to_name(c.kind);
        item["count"] = c.links;
        item["bytes_per_s"] = c.capacity.value();
        item["latency_s"] = c.latency.value();
        out["links"].push_back(std::move(item));
    }
    out["layers"] = Json::array();
    for (const FabricLayer& layer : s.layers) {
        Json item = Json::object();
        item["name"] = layer.name;
        item["links"] = layer.links;
        item["bytes_per_s"] = layer.capacity.value();
        item["oversubscription"] = layer.oversubscription;
        out["layers"].push_back(std::move(item));
    }
    out["bisection_bytes_per_s"] = s.bisection.value();
    return out;
}

} // namespace trainyard
