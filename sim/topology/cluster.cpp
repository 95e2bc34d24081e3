#include "sim/topology/cluster.h"

#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/topology/clos.h"
#include "sim/topology/cluster_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

template <>
std::vector<EnumName<Generator>> enum_names<Generator>()
{
    return {{Generator::cluster, "cluster"}};
}

template <>
const FieldTable<ClusterDescription>& fields_of<ClusterDescription>()
{
    static const auto table =
        FieldTable<ClusterDescription>("topology", "A cluster of equal nodes on a regular fabric.")
            .field("name", &ClusterDescription::name, {.help = "for people"})
            .field("description", &ClusterDescription::description, {.help = "what it stands for"})
            .field("source", &ClusterDescription::source, {.help = "where its figures come from"})
            .field("generator", &ClusterDescription::generator,
                   {.help = "how the cluster is laid out", .required = true})
            .field("nodes", &ClusterDescription::nodes,
                   {.help = "servers or trays", .min = 1, .max = 1 << 20, .required = true})
            .field("node", &ClusterDescription::node,
                   {.help = "kind of node: a preset's name, or its figures", .required = true})
            .field("fabric", &ClusterDescription::fabric,
                   {.help = "network between nodes; absent: NVLink only"});
    return table;
}

namespace {

class FlawList {
public:
    void error(std::string pointer, std::string message, std::string hint = {})
    {
        all_.push_back({Severity::error, std::move(pointer), std::move(message), std::move(hint)});
    }
    void warn(std::string pointer, std::string message, std::string hint)
    {
        all_.push_back(
            {Severity::warning, std::move(pointer), std::move(message), std::move(hint)});
    }
    std::vector<ClusterFlaw> take() { return std::move(all_); }

private:
    std::vector<ClusterFlaw> all_;
};

void check_nvlink(const NodeTemplate& node, FlawList& out)
{
    const NvlinkTemplate& nvlink = node.nvlink;
    if (nvlink.wiring == NvlinkWiring::none) {
        if (nvlink.domain > node.gpus)
            out.error("/node/nvlink/domain", "an NVLink domain across nodes needs NVSwitches",
                      "\"wiring\": \"switch\"");
        return;
    }
    if (nvlink.rate.value() <= 0)
        out.error("/node/nvlink", "NVLink without a rate", "add \"rate\": \"450 GB/s\" or so");
    if (nvlink.wiring == NvlinkWiring::cube_mesh && node.gpus != 8)
        out.error("/node/gpus", "a cube mesh joins 8 GPUs");
    if (nvlink.wiring == NvlinkWiring::pairs && node.gpus % 2 != 0)
        out.error("/node/gpus", "NVLink pairs need an even number of GPUs");
    if (domain_gpus(node) % node.gpus != 0)
        out.error("/node/nvlink/domain",
                  fmt::format("an NVLink domain of {} GPUs is not whole nodes of {}", nvlink.domain,
                              node.gpus),
                  fmt::format("a multiple of {}; with bridges between pairs of GPUs: "
                              "\"wiring\": \"pairs\"",
                              node.gpus));
    else if (domain_gpus(node) != node.gpus && nvlink.wiring != NvlinkWiring::switched)
        out.error("/node/nvlink/domain", "an NVLink domain across nodes needs NVSwitches",
                  "\"wiring\": \"switch\"");
}

void check_pcie(const NodeTemplate& node, FlawList& out)
{
    const int switches = pcie_switch_count(node);
    if (node.gpus % switches != 0)
        out.error("/node/pcie_switches",
                  fmt::format("{} PCIe switches do not divide {} GPUs", switches, node.gpus),
                  "each switch takes the same number of GPUs");
    if (node.nics >= switches && node.nics % switches != 0)
        out.error("/node/nics",
                  fmt::format("{} PCIe switches do not divide {} NICs", switches, node.nics),
                  "each switch takes the same number of NICs; set \"pcie_switches\"");
    if (node.nic_path == NicPath::c2c && node.c2c.value() <= 0)
        out.error("/node/nic_path", "NICs behind C2C, but the node has no C2C",
                  "add \"c2c\": \"450 GB/s\", or \"nic_path\": \"pcie\"");
}

void check_ports(const ClusterDescription& description, const ClosShape& shape, FlawList& out)
{
    // A port of 400 Gb/s may be split for NICs of 100 Gb/s.
    const double down = shape.leaf_downlinks * std::min(1.0, shape.nic_rate / shape.uplink_rate);
    const int needed = static_cast<int>(std::ceil(down)) + shape.leaf_uplinks;
    const int ports = description.fabric->network.switch_ports;
    if (needed > ports)
        out.warn("/fabric", fmt::format("a leaf switch needs {} ports and has {}", needed, ports),
                 "fewer nodes_per_unit, or larger switches (fabric.network.switch_ports)");
}

// Whole links: a leaf of 8 NICs has at least one uplink of their rate, which is 8:1.
void check_oversubscription(const FabricTemplate& fabric, const ClosShape& shape, FlawList& out)
{
    constexpr double much = 1.25;
    const double found = shape.leaf_oversubscription();
    if (fabric.oversubscription > much * found)
        out.warn("/fabric/oversubscription",
                 fmt::format("{:.3g}:1 comes out as {:.3g}:1", fabric.oversubscription, found),
                 shape.leaves == 1 ? "one leaf switch holds all nodes; give nodes_per_unit"
                                   : "a leaf switch has whole uplinks; give uplink_rate or "
                                     "nodes_per_unit");
}

void check_fabric(const ClusterDescription& description, FlawList& out)
{
    const NodeTemplate& node = description.node;
    const int domain_nodes = std::max(1, domain_gpus(node) / std::max(1, node.gpus));
    if (description.nodes <= domain_nodes && !description.fabric)
        return;
    if (!description.fabric) {
        out.error("/fabric", fmt::format("{} nodes have nothing between them", description.nodes),
                  "add \"fabric\": {\"kind\": \"rail\", \"network\": \"ib_ndr\"}");
        return;
    }
    if (node.nics == 0) {
        out.error("/node/nics", "a fabric, but the nodes have no NICs to reach it",
                  "add \"nics\": 8 or so, or drop \"fabric\"");
        return;
    }
    if (description.fabric->network.transport == Transport::none)
        out.error("/fabric/network/transport", "a network needs a transport",
                  "one of: infiniband, roce, efa, tcp");
    const auto shape = clos_shape(description.nodes, node, *description.fabric);
    if (!shape)
        out.error(shape.error().field, shape.error().message, shape.error().hint);
    else {
        check_ports(description, *shape, out);
        check_oversubscription(*description.fabric, *shape, out);
    }
}

// Devices and links are numbered with 32 bits.
void check_size(const ClusterDescription& description, FlawList& out)
{
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const NodeTemplate& node = description.node;
    const std::int64_t pieces = std::int64_t{description.nodes} * std::max(node.gpus, node.nics);
    const std::int64_t wires = node.nvlink.wiring == NvlinkWiring::all_to_all
                                   ? std::int64_t{description.nodes} * node.gpus * node.gpus
                                   : 0;
    if (std::max(pieces, wires) > most)
        out.error("/nodes", "a cluster of more than 16,777,216 devices, NICs or NVLinks",
                  "fewer nodes, or smaller ones");
}

void check_plausible_rates(const ClusterDescription& description, FlawList& out)
{
    const NodeTemplate& node = description.node;
    const auto check_nic = [&](const char* pointer, Bandwidth rate) {
        const double gigabytes = rate.value() / 1e9;
        if (gigabytes > 200)
            out.warn(pointer, fmt::format("{} for one NIC?", to_display(rate)),
                     fmt::format("{:g} Gb/s is usual: bits, not bytes", gigabytes));
        else if (gigabytes < 0.1)
            out.warn(pointer, fmt::format("{} for one NIC?", to_display(rate)),
                     "10 to 800 Gb/s are usual");
    };
    if (node.nic_rate)
        check_nic("/node/nic_rate", *node.nic_rate);
    if (description.fabric)
        check_nic("/fabric/network/port_rate", description.fabric->network.port_rate);
    if (node.nvlink.wiring != NvlinkWiring::none && node.nvlink.rate.value() > 0 &&
        (node.nvlink.rate.value() > 2e12 || node.nvlink.rate.value() < 20e9))
        out.warn("/node/nvlink/rate", fmt::format("{} of NVLink?", to_display(node.nvlink.rate)),
                 "per GPU and direction: 300 GB/s (A100), 450 GB/s (H100), 900 GB/s (B200)");
    if (node.pcie.value() > 300e9 || node.pcie.value() < 1e9)
        out.warn("/node/pcie", fmt::format("{} of PCIe?", to_display(node.pcie)),
                 "per direction, x16: 31 GB/s (generation 4), 63 GB/s (generation 5)");
}

void check_plausible_latencies(const ClusterDescription& description, FlawList& out)
{
    const auto check = [&](const char* pointer, Seconds latency, double usual, const char* hint) {
        if (latency.value() > 100 * usual)
            out.warn(pointer, fmt::format("a latency of {}?", to_display(latency)), hint);
    };
    check("/node/nvlink/hop_latency", description.node.nvlink.hop_latency, 0.3e-6,
          "0.3 us is usual");
    check("/node/pcie_latency", description.node.pcie_latency, 0.5e-6, "0.5 us is usual");
    if (!description.fabric)
        return;
    check("/fabric/network/nic_latency", description.fabric->network.nic_latency, 10e-6,
          "0.6 us (InfiniBand) to 10 us (TCP) are usual");
    check("/fabric/network/switch_latency", description.fabric->network.switch_latency, 0.5e-6,
          "0.15 us (InfiniBand) to 0.5 us (Ethernet) are usual");
}

} // namespace

std::vector<ClusterFlaw> flaws(const ClusterDescription& description)
{
    FlawList out;
    if (description.nodes < 1)
        out.error("/nodes", "a cluster needs at least one node");
    if (description.node.gpus < 1)
        out.error("/node/gpus", "a node needs at least one GPU");
    if (description.nodes < 1 || description.node.gpus < 1)
        return out.take();
    check_size(description, out);
    check_nvlink(description.node, out);
    check_pcie(description.node, out);
    check_fabric(description, out);
    check_plausible_rates(description, out);
    check_plausible_latencies(description, out);
    return out.take();
}

Topology make_cluster(const ClusterDescription& description)
{
    return Topology(std::make_shared<const ClusterModel>(description));
}

} // namespace trainyard
