#include "sim/topology/node_template.h"

#include "sim/base/fields.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace trainyard {

template <>
std::vector<EnumName<NvlinkWiring>> enum_names<NvlinkWiring>()
{
    return {{NvlinkWiring::none, "none"},
            {NvlinkWiring::switched, "switch"},
            {NvlinkWiring::all_to_all, "all-to-all"},
            {NvlinkWiring::cube_mesh, "cube-mesh"},
            {NvlinkWiring::pairs, "pairs"}};
}

template <>
std::vector<EnumName<NicPath>> enum_names<NicPath>()
{
    return {{NicPath::pcie, "pcie"}, {NicPath::c2c, "c2c"}};
}

template <>
const FieldTable<NvlinkTemplate>& fields_of<NvlinkTemplate>()
{
    static const auto table =
        FieldTable<NvlinkTemplate>("nvlink", "NVLink of a node or rack.")
            .field("wiring", &NvlinkTemplate::wiring, {.help = "how the NVLinks of GPUs meet"})
            .field("rate", &NvlinkTemplate::rate,
                   {.help = "per GPU and direction, all its NVLinks together"})
            .field("domain", &NvlinkTemplate::domain,
                   {.help = "GPUs that NVLink joins, of whole nodes; 0: those of one node",
                    .min = 0,
                    .max = 1 << 20})
            .field("hop_latency", &NvlinkTemplate::hop_latency,
                   {.help = "from GPU to GPU, through a switch or directly"})
            .field("reduction", &NvlinkTemplate::reduction,
                   {.help = "multicast and sums in the NVSwitch (NVLS)"});
    return table;
}

template <>
const FieldTable<NodeTemplate>& fields_of<NodeTemplate>()
{
    static const auto table =
        FieldTable<NodeTemplate>("node", "One kind of server or tray.")
            .field("source", &NodeTemplate::source, {.help = "where the figures come from"})
            .field("device", &NodeTemplate::device,
                   {.help = "key of the device constants, such as h100_sxm5_80", .required = true})
            .field("gpus", &NodeTemplate::gpus,
                   {.help = "GPUs of one node", .min = 1, .max = 1024, .required = true})
            .field("nvlink", &NodeTemplate::nvlink, {.help = "NVLink; absent: none"})
            .field("pcie", &NodeTemplate::pcie,
                   {.help = "PCIe of one GPU, per direction", .min = 1e6, .required = true})
            .field("pcie_latency", &NodeTemplate::pcie_latency, {.help = "of one PCIe link"})
            .field("pcie_switches", &NodeTemplate::pcie_switches,
                   {.help =
                        "PCIe switches (or root complexes) that share out GPUs and NICs evenly; "
                        "0: as many as do so",
                    .min = 0,
                    .max = 1024})
            .field("c2c", &NodeTemplate::c2c,
                   {.help = "C2C of one GPU to its CPU, per direction; absent: host over PCIe"})
            .field("nic_path", &NodeTemplate::nic_path, {.help = "from a GPU to its NICs"})
            .field("nics", &NodeTemplate::nics,
                   {.help = "NICs for traffic between nodes", .min = 0, .max = 1024})
            .field("nic_rate", &NodeTemplate::nic_rate,
                   {.help = "line rate of one NIC, one direction; absent: the network's port rate",
                    .min = 1e6})
            .field("usual_network", &NodeTemplate::usual_network,
                   {.help = "network preset, where the fabric names none"});
    return table;
}

int pcie_switch_count(const NodeTemplate& node)
{
    if (node.pcie_switches > 0)
        return node.pcie_switches;
    return node.nics == 0 ? 1 : std::gcd(node.gpus, node.nics);
}

int domain_gpus(const NodeTemplate& node)
{
    return node.nvlink.domain > 0 ? node.nvlink.domain : node.gpus;
}

namespace {

// NVLinks between the GPUs of a DGX-1 with V100, 6 per GPU: what `nvidia-smi topo -m` shows there
// (recalled). Two quads {0,1,2,3} and {4,5,6,7}; GPU i also meets GPU i + 4.
constexpr std::array<std::array<int, 8>, 8> cube_mesh{{{0, 1, 1, 2, 2, 0, 0, 0},
                                                       {1, 0, 2, 1, 0, 2, 0, 0},
                                                       {1, 2, 0, 2, 0, 0, 1, 0},
                                                       {2, 1, 2, 0, 0, 0, 0, 1},
                                                       {2, 0, 0, 0, 0, 1, 1, 2},
                                                       {0, 2, 0, 0, 1, 0, 2, 1},
                                                       {0, 0, 1, 0, 1, 2, 0, 2},
                                                       {0, 0, 0, 1, 2, 1, 2, 0}}};

int links_between(const NodeTemplate& node, int from, int to)
{
    switch (node.nvlink.wiring) {
    case NvlinkWiring::all_to_all:
        return 1;
    case NvlinkWiring::cube_mesh:
        return cube_mesh[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    case NvlinkWiring::pairs:
        return from / 2 == to / 2 ? 1 : 0;
    case NvlinkWiring::none:
    case NvlinkWiring::switched:
        break;
    }
    return 0;
}

} // namespace

int nvlinks_per_gpu(const NodeTemplate& node)
{
    if (node.nvlink.wiring == NvlinkWiring::cube_mesh)
        return 6;
    return node.nvlink.wiring == NvlinkWiring::all_to_all ? std::max(1, node.gpus - 1) : 1;
}

std::vector<NvlinkWire> nvlink_wires(const NodeTemplate& node)
{
    std::vector<NvlinkWire> wires;
    for (int from = 0; from < node.gpus; ++from)
        for (int to = 0; to < node.gpus; ++to)
            if (const int links = from == to ? 0 : links_between(node, from, to); links > 0)
                wires.push_back({from, to, links});
    return wires;
}

} // namespace trainyard
