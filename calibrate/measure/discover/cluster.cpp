#include "calibrate/measure/discover/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double same_rate = 0.01; // relative: rates are rounded by who reports them

bool alike(Bandwidth a, Bandwidth b)
{
    return std::abs(a.value() - b.value()) <= same_rate * std::max(a.value(), b.value());
}

std::string rate_text(Bandwidth rate)
{
    return rate.value() > 0 ? fmt::format("{:.3g} GB/s", rate.value() / 1e9) : "an unknown rate";
}

std::string summary(const NodeMap& map)
{
    std::string out = fmt::format("{} x {}", map.gpus.size(), map.gpus.front().model);
    if (map.nics.empty())
        return out;
    out += fmt::format(", {} NIC{}", map.nics.size(), map.nics.size() == 1 ? "" : "s");
    if (map.nics.front().rate.value() > 0)
        out += " of " + rate_text(map.nics.front().rate);
    return out;
}

std::string hosts_text(const std::vector<std::string>& hosts)
{
    constexpr std::size_t most = 4;
    if (hosts.size() <= most)
        return fmt::format("{}", fmt::join(hosts, ", "));
    return fmt::format("{} and {} more", fmt::join(hosts.begin(), hosts.begin() + most, ", "),
                       hosts.size() - most);
}

// Nodes by class, each with its first as the model.
std::vector<std::vector<std::size_t>> node_classes(const std::vector<NodeReport>& nodes)
{
    std::vector<std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto same =
            std::find_if(out.begin(), out.end(), [&](const std::vector<std::size_t>& cls) {
                return differences(nodes[cls.front()], nodes[i]).empty();
            });
        if (same == out.end())
            out.push_back({i});
        else
            same->push_back(i);
    }
    // The most usual first.
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return out;
}

void tell_classes(DiscoveredCluster& cluster)
{
    const auto hosts_of = [&](const std::vector<std::size_t>& cls) {
        std::vector<std::string> out;
        for (const std::size_t i : cls)
            out.push_back(cluster.nodes[i].host);
        return out;
    };
    const auto classes = node_classes(cluster.nodes);
    const NodeReport& usual = cluster.nodes[classes.front().front()];
    if (classes.front().size() > 1)
        cluster.told.push_back(fmt::format(
            "hosts {} are alike: {}", hosts_text(hosts_of(classes.front())), summary(usual.map)));
    for (std::size_t i = 1; i < classes.size(); ++i) {
        const NodeReport& other = cluster.nodes[classes[i].front()];
        cluster.told.push_back(
            fmt::format("host{} {} differ{} from {}: {}", classes[i].size() == 1 ? "" : "s",
                        hosts_text(hosts_of(classes[i])), classes[i].size() == 1 ? "s" : "",
                        usual.host, fmt::join(differences(usual, other), "; ")));
    }
}

// The network that most nodes speak, or TCP where no node shows a NIC.
std::string network_of(DiscoveredCluster& cluster)
{
    std::vector<std::pair<std::string, int>> votes;
    for (const NodeReport& node : cluster.nodes) {
        if (node.map.network.empty())
            continue;
        const auto known = std::find_if(votes.begin(), votes.end(), [&](const auto& vote) {
            return vote.first == node.map.network;
        });
        if (known == votes.end())
            votes.emplace_back(node.map.network, 1);
        else
            ++known->second;
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == votes.end() ? "tcp" : most->first;
}

// Every node of several reaches the others somehow.
void add_missing_nics(DiscoveredCluster& cluster)
{
    for (NodeReport& node : cluster.nodes) {
        if (!node.map.nics.empty() || node.map.switches.empty())
            continue;
        cluster.assumed.push_back(
            fmt::format("host {} shows no NIC that is up: one of the usual rate", node.host));
        node.map.nics.push_back(
            {"nic0", node.map.gpus.front().parent, node.map.gpus.front().pcie, Bandwidth(0)});
    }
}

} // namespace

std::vector<std::string> differences(const NodeReport& usual, const NodeReport& other)
{
    std::vector<std::string> out;
    const NodeMap& a = usual.map;
    const NodeMap& b = other.map;
    if (a.gpus.size() != b.gpus.size())
        out.push_back(fmt::format("{} devices instead of {}", b.gpus.size(), a.gpus.size()));
    for (std::size_t i = 0; i < std::min(a.gpus.size(), b.gpus.size()); ++i) {
        if (a.gpus[i].model != b.gpus[i].model)
            out.push_back(fmt::format("{} is {} instead of {}", b.gpus[i].name, b.gpus[i].model,
                                      a.gpus[i].model));
        if (!alike(a.gpus[i].pcie, b.gpus[i].pcie))
            out.push_back(fmt::format("PCIe of {} carries {} instead of {}", b.gpus[i].name,
                                      rate_text(b.gpus[i].pcie), rate_text(a.gpus[i].pcie)));
        if (!alike(a.gpus[i].c2c, b.gpus[i].c2c))
            out.push_back(fmt::format("C2C of {} carries {:.3g} GB/s instead of {:.3g} GB/s",
                                      b.gpus[i].name, b.gpus[i].c2c.value() / 1e9,
                                      a.gpus[i].c2c.value() / 1e9));
        for (std::size_t j = i + 1; j < std::min(a.gpus.size(), b.gpus.size()); ++j)
            if (usual.classes[i][j] != other.classes[i][j])
                out.push_back(fmt::format("{} and {} are joined by {} instead of {}",
                                          b.gpus[i].name, b.gpus[j].name, other.classes[i][j],
                                          usual.classes[i][j]));
    }
    if (a.nics.size() != b.nics.size())
        out.push_back(fmt::format("{} NICs instead of {}", b.nics.size(), a.nics.size()));
    for (std::size_t i = 0; i < std::min(a.nics.size(), b.nics.size()); ++i)
        if (!alike(a.nics[i].rate, b.nics[i].rate))
            out.push_back(fmt::format("NIC {} has {} instead of {}", b.nics[i].name,
                                      rate_text(b.nics[i].rate), rate_text(a.nics[i].rate)));
    if (a.network != b.network)
        out.push_back(fmt::format("its NICs speak {} instead of {}",
                                  b.network.empty() ? "nothing known" : b.network,
                                  a.network.empty() ? "nothing known" : a.network));
    if (a.nvlink_domain != b.nvlink_domain)
        out.emplace_back("it is in another NVLink domain");
    return out;
}

Checked<DiscoveredCluster> cluster_of(std::vector<NodeReport> nodes)
{
    DiscoveredCluster out;
    out.nodes = std::move(nodes);
    const bool several = out.nodes.size() > 1;
    for (const NodeReport& node : out.nodes)
        for (const std::string& text : node.assumed)
            add_note(out.assumed, text);
    if (several) {
        tell_classes(out);
        add_missing_nics(out);
        out.assumed.emplace_back("between the NICs lies one switch without limits of its own: "
                                 "nothing on a node shows the fabric's shape, edit the topology "
                                 "where it has several layers or is oversubscribed");
    }
    std::vector<NodeMap> maps;
    for (const NodeReport& node : out.nodes) {
        maps.push_back(node.map);
        if (several)
            maps.back().name = node.host;
    }
    const bool wanted = several || !maps.front().network.empty();
    out.description = describe_nodes(maps, wanted ? network_preset(network_of(out))
                                                  : std::optional<NetworkTemplate>());
    if (several) {
        out.description.name =
            fmt::format("{}-and-{}-more", maps.front().name, out.nodes.size() - 1);
        out.description.source = "read on every node; the switch between the NICs is assumed";
    }
    Checked<Json> json = topology_json(out.description, "the discovered topology");
    if (!json)
        return tl::make_unexpected(std::move(json.error()));
    out.topology = std::move(*json);
    return out;
}

} // namespace trainyard
