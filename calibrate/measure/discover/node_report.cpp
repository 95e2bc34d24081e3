#include "calibrate/measure/discover/node_report.h"

#include "sim/base/fields.h"

#include <fmt/core.h>

namespace trainyard {

template <>
const FieldTable<NodeMap::Vertex>& fields_of<NodeMap::Vertex>()
{
    using V = NodeMap::Vertex;
    static const auto table = FieldTable<V>("vertex", "A PCIe switch, a bridge or a CPU.")
                                  .field("name", &V::name, {.help = "of the piece"})
                                  .field("parent", &V::parent, {.help = "-1: a CPU"})
                                  .field("up", &V::up, {.help = "to the parent"});
    return table;
}

template <>
const FieldTable<NodeMap::Gpu>& fields_of<NodeMap::Gpu>()
{
    using G = NodeMap::Gpu;
    static const auto table = FieldTable<G>("node_device", "A device of a node.")
                                  .field("name", &G::name, {.help = "of the piece"})
                                  .field("model", &G::model, {.help = "key of its constants"})
                                  .field("parent", &G::parent, {.help = "the switch above"})
                                  .field("pcie", &G::pcie, {.help = "to the switch above"})
                                  .field("address", &G::address, {.help = "on PCI"})
                                  .field("c2c", &G::c2c, {.help = "to its CPU's memory"});
    return table;
}

template <>
const FieldTable<NodeMap::Nic>& fields_of<NodeMap::Nic>()
{
    using N = NodeMap::Nic;
    static const auto table = FieldTable<N>("node_nic", "A NIC of a node.")
                                  .field("name", &N::name, {.help = "of the piece"})
                                  .field("parent", &N::parent, {.help = "the switch above"})
                                  .field("pcie", &N::pcie, {.help = "to the switch above"})
                                  .field("rate", &N::rate, {.help = "to the network"});
    return table;
}

template <>
const FieldTable<NodeMap::Nvlink>& fields_of<NodeMap::Nvlink>()
{
    using L = NodeMap::Nvlink;
    static const auto table = FieldTable<L>("node_nvlink", "NVLinks of a GPU.")
                                  .field("from", &L::from, {.help = "GPU"})
                                  .field("to", &L::to, {.help = "GPU; -1: the NVSwitches"})
                                  .field("rate", &L::rate, {.help = "of all of them"});
    return table;
}

template <>
const FieldTable<NodeMap>& fields_of<NodeMap>()
{
    using M = NodeMap;
    static const auto table =
        FieldTable<M>("node_map", "One node.")
            .field("name", &M::name, {.help = "of the node"})
            .field("network", &M::network, {.help = "preset that its NICs speak"})
            .field("guessed_model", &M::guessed_model, {.help = "the GPUs' model is assumed"})
            .field("switches", &M::switches, {.help = "PCIe switches and CPUs"})
            .field("devices", &M::gpus, {.help = "GPUs, or shares of processors"})
            .field("nics", &M::nics, {.help = "network ports"})
            .field("nvlinks", &M::nvlinks, {.help = "between GPUs"})
            .field("nvlink_domain", &M::nvlink_domain, {.help = "of several nodes"});
    return table;
}

template <>
const FieldTable<NodeReport>& fields_of<NodeReport>()
{
    using R = NodeReport;
    static const auto table =
        FieldTable<R>("node_report", "What a host tells of itself.")
            .field("host", &R::host, {.help = "its name"})
            .field("map", &R::map, {.help = "its pieces"})
            .field("classes", &R::classes, {.help = "between devices"})
            .field("believed", &R::believed, {.help = "where sources contradict"})
            .field("doubts", &R::doubts, {.help = "what makes numbers doubtful"})
            .field("assumed", &R::assumed, {.help = "what nothing tells"});
    return table;
}

Checked<NodeReport> report_of(NodeLook look, const std::string& dump)
{
    look.sources.nccl_dump = dump;
    Checked<DiscoveredNode> node = discover_node(look.sources);
    if (!node && !dump.empty()) {
        look.doubts.push_back(
            fmt::format("NCCL's dump of the topology is left out: {}", node.error()[0].message));
        look.sources.nccl_dump.clear();
        node = discover_node(look.sources);
    }
    if (!node)
        return tl::make_unexpected(std::move(node.error()));
    NodeReport out;
    out.host = look.sources.host.name;
    out.map = std::move(node->map);
    out.classes = std::move(node->classes);
    out.believed = std::move(node->believed);
    out.doubts = std::move(look.doubts);
    out.assumed = std::move(node->notes.assumed);
    return out;
}

} // namespace trainyard
