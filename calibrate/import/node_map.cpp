#include "calibrate/import/node_map.h"

#include "sim/base/fields.h"
#include "sim/topology/explicit_checks.h"
#include "sim/topology/presets.h"
#include "sim/topology/read_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {
namespace {

constexpr Seconds pcie_latency{0.4e-6};   // of one link, as in node templates
constexpr Seconds nvlink_latency{0.3e-6}; // from GPU to GPU, as in node templates

// Which switches have a GPU or NIC below them.
std::vector<bool> used_switches(const NodeMap& map)
{
    std::vector<bool> used(map.switches.size(), false);
    const auto mark = [&](int vertex) {
        while (vertex >= 0 && !used[static_cast<std::size_t>(vertex)]) {
            used[static_cast<std::size_t>(vertex)] = true;
            vertex = map.switches[static_cast<std::size_t>(vertex)].parent;
        }
    };
    for (const NodeMap::Gpu& gpu : map.gpus)
        mark(gpu.parent);
    for (const NodeMap::Nic& nic : map.nics)
        mark(nic.parent);
    return used;
}

class Namer {
public:
    std::string unique(const std::string& wanted)
    {
        std::string name = wanted.empty() ? "piece" : wanted;
        for (int& last = last_.try_emplace(wanted, 1).first->second; !taken_.insert(name).second;)
            name = fmt::format("{}-{}", wanted, ++last);
        return name;
    }

private:
    std::set<std::string> taken_;
    std::map<std::string, int> last_; // number given to another piece of that name
};

// What all nodes of a cluster share.
struct SharedPieces {
    ExplicitDescription out;
    Namer namer;
    std::string network;                        // the switch
    std::map<std::string, std::string> fabrics; // NVLink domain -> its NVSwitch
};

class NodeWriter {
public:
    // `node`: its name; `prefix`: of the names of its pieces.
    NodeWriter(const NodeMap& map, std::string node, std::string prefix, SharedPieces& shared)
        : map_(map),
          node_(std::move(node)),
          prefix_(std::move(prefix)),
          shared_(shared),
          out_(shared.out)
    {}

    void write()
    {
        add_gpus();
        add_switches();
        add_nics();
        add_nvlinks();
    }

private:
    std::string unique(const std::string& name) { return shared_.namer.unique(prefix_ + name); }

    void link(const std::string& from, const std::string& to, Bandwidth rate, Seconds latency)
    {
        out_.links.push_back({from, to, rate, latency, std::nullopt, false, ""});
    }

    void add_gpus()
    {
        for (const NodeMap::Gpu& gpu : map_.gpus) {
            gpus_.push_back(unique(gpu.name));
            out_.devices.push_back({gpus_.back(), node_, gpu.model});
        }
    }

    void add_switches()
    {
        const std::vector<bool> used = used_switches(map_);
        switches_.resize(map_.switches.size());
        std::vector<std::string> roots;
        for (std::size_t i = 0; i < map_.switches.size(); ++i) {
            if (!used[i])
                continue;
            switches_[i] = unique(map_.switches[i].name);
            out_.switches.push_back({switches_[i], SwitchKind::pcie, node_, false});
        }
        for (std::size_t i = 0; i < map_.switches.size(); ++i) {
            const NodeMap::Vertex& vertex = map_.switches[i];
            if (!used[i])
                continue;
            if (vertex.parent < 0)
                roots.push_back(switches_[i]);
            else
                link(switches_[i], switches_[static_cast<std::size_t>(vertex.parent)], vertex.up,
                     pcie_latency);
        }
        for (std::size_t a = 0; a < roots.size(); ++a)
            for (std::size_t b = a + 1; b < roots.size(); ++b)
                link(roots[a], roots[b], between_cpus, pcie_latency);
        for (std::size_t i = 0; i < map_.gpus.size(); ++i)
            add_host_links(i);
    }

    // C2C stands for a PCIe link between the same two: nothing takes the slower way.
    void add_host_links(std::size_t gpu)
    {
        const NodeMap::Gpu& from = map_.gpus[gpu];
        int root = from.parent;
        while (map_.switches[static_cast<std::size_t>(root)].parent >= 0)
            root = map_.switches[static_cast<std::size_t>(root)].parent;
        const bool by_c2c = from.c2c.value() > 0;
        if (!by_c2c || root != from.parent)
            link(gpus_[gpu], at(from.parent), from.pcie, pcie_latency);
        if (!by_c2c)
            return;
        link(gpus_[gpu], at(root), from.c2c, pcie_latency); // as in node templates
        out_.links.back().kind = LinkKind::c2c;
    }

    void add_nics()
    {
        if (!out_.network || map_.nics.empty())
            return;
        const Seconds latency = out_.network->nic_latency + out_.network->switch_latency / 2;
        if (shared_.network.empty()) {
            shared_.network = shared_.namer.unique("network");
            out_.switches.push_back({shared_.network, SwitchKind::network, "", false});
        }
        for (const NodeMap::Nic& nic : map_.nics) {
            const std::string name = unique(nic.name);
            out_.nics.push_back({name, node_});
            link(name, at(nic.parent), nic.pcie, pcie_latency);
            const bool known = nic.rate.value() > 0;
            link(name, shared_.network, known ? nic.rate : out_.network->port_rate, latency);
        }
    }

    // NVSwitches of a domain of several nodes belong to none of them.
    const std::string& fabric()
    {
        const bool own = map_.nvlink_domain.empty();
        std::string& name = shared_.fabrics[own ? "node " + node_ : "domain " + map_.nvlink_domain];
        if (name.empty()) {
            name = own ? unique("nvswitch") : shared_.namer.unique("nvswitch");
            out_.switches.push_back({name, SwitchKind::nvswitch, "", false});
        }
        return name;
    }

    void add_nvlinks()
    {
        for (const NodeMap::Nvlink& nvlink : map_.nvlinks) {
            const std::string& from = gpus_[static_cast<std::size_t>(nvlink.from)];
            if (nvlink.to < 0)
                link(from, fabric(), nvlink.rate, nvlink_latency / 2);
            else
                link(from, gpus_[static_cast<std::size_t>(nvlink.to)], nvlink.rate, nvlink_latency);
        }
    }

    const std::string& at(int vertex) const { return switches_[static_cast<std::size_t>(vertex)]; }

    const NodeMap& map_;
    std::string node_;
    std::string prefix_;
    SharedPieces& shared_;
    ExplicitDescription& out_;
    std::vector<std::string> gpus_;
    std::vector<std::string> switches_;
};

} // namespace

std::optional<NetworkTemplate> network_preset(const std::string& name)
{
    const Checked<Presets> presets = load_presets();
    const Json* const found = presets ? presets->networks.find(name) : nullptr;
    if (found == nullptr)
        return std::nullopt;
    NetworkTemplate network;
    Problems problems;
    fields_of<NetworkTemplate>().read(Reader(*found, name, problems), network);
    return has_errors(problems) ? std::nullopt : std::optional(network);
}

std::string infiniband_of(Bandwidth rate)
{
    const double gigabits = rate.value() * 8 / 1e9;
    return gigabits <= 100   ? "ib_edr"
           : gigabits <= 200 ? "ib_hdr"
           : gigabits <= 400 ? "ib_ndr"
                             : "ib_xdr";
}

std::string roce_of(Bandwidth rate)
{
    return rate.value() * 8 / 1e9 <= 100 ? "roce_100" : "roce_400";
}

ExplicitDescription describe_node(const NodeMap& map, const std::optional<NetworkTemplate>& network)
{
    return describe_nodes({map}, network);
}

ExplicitDescription describe_nodes(const std::vector<NodeMap>& maps,
                                   const std::optional<NetworkTemplate>& network)
{
    SharedPieces shared;
    if (maps.empty())
        return {};
    shared.out.name = maps.front().name;
    if (std::any_of(maps.begin(), maps.end(), [](const NodeMap& map) { return !map.nics.empty(); }))
        shared.out.network = network;
    const bool several = maps.size() > 1;
    for (const NodeMap& map : maps)
        NodeWriter(map, several ? map.name : "node0", several ? map.name + "/" : "", shared)
            .write();
    return std::move(shared.out);
}

Checked<Json> topology_json(const ExplicitDescription& description, const std::string& file)
{
    Problems problems;
    for (const ClusterFlaw& flaw : flaws(description))
        problems.push_back({file, 0, flaw.pointer, flaw.message, flaw.hint, flaw.severity});
    if (has_errors(problems))
        return tl::make_unexpected(std::move(problems));
    return write_topology(make_explicit(description));
}

} // namespace trainyard
