#include "sim/topology/fabric_template.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<FabricKind>> enum_names<FabricKind>()
{
    return {{FabricKind::rail, "rail"},
            {FabricKind::leaf_spine, "leaf-spine"},
            {FabricKind::fat_tree, "fat-tree"}};
}

template <>
const FieldTable<NetworkTemplate>& fields_of<NetworkTemplate>()
{
    static const auto table =
        FieldTable<NetworkTemplate>("network", "A family of NICs and switches.")
            .field("source", &NetworkTemplate::source, {.help = "where the figures come from"})
            .field("name", &NetworkTemplate::name,
                   {.help = "key of the network constants, such as ib_ndr", .required = true})
            .field("transport", &NetworkTemplate::transport,
                   {.help = "what carries traffic between nodes", .required = true})
            .field(
                "port_rate", &NetworkTemplate::port_rate,
                {.help = "line rate of a switch port, one direction", .min = 1e6, .required = true})
            .field("nic_latency", &NetworkTemplate::nic_latency,
                   {.help = "of one NIC and its driver, one way"})
            .field("switch_latency", &NetworkTemplate::switch_latency,
                   {.help = "through one switch"})
            .field("switch_ports", &NetworkTemplate::switch_ports,
                   {.help = "ports of one switch", .min = 2, .max = 4096})
            .field("gpu_direct", &NetworkTemplate::gpu_direct,
                   {.help = "NICs reach GPU memory without a copy in host memory"})
            .field("reduction", &NetworkTemplate::reduction,
                   {.help = "sums in the switches (SHARP)"});
    return table;
}

template <>
const FieldTable<FabricTemplate>& fields_of<FabricTemplate>()
{
    static const auto table =
        FieldTable<FabricTemplate>("fabric", "The network between nodes.")
            .field("kind", &FabricTemplate::kind,
                   {.help = "how NICs meet leaf switches", .required = true})
            .field("network", &FabricTemplate::network,
                   {.help = "kind of NIC and switch: a preset's name, or its figures",
                    .required = true})
            .field("oversubscription", &FabricTemplate::oversubscription,
                   {.help = "of a leaf switch: rate of the NICs below / rate of its uplinks",
                    .min = 1,
                    .max = 1000})
            .field("core_oversubscription", &FabricTemplate::core_oversubscription,
                   {.help = "of a spine switch: rate of its leaf links / rate of its core links",
                    .min = 1,
                    .max = 1000})
            .field("rails", &FabricTemplate::rails,
                   {.help = "leaf switches per unit; 0: NICs per node on rails, else 1",
                    .min = 0,
                    .max = 1024})
            .field("nodes_per_unit", &FabricTemplate::nodes_per_unit,
                   {.help = "nodes that share leaf switches; 0: as many as the ports allow",
                    .min = 0,
                    .max = 1 << 20})
            .field("units_per_pod", &FabricTemplate::units_per_pod,
                   {.help = "units that share spine switches when there is a core layer; 0: as "
                            "many as the ports allow",
                    .min = 0,
                    .max = 1 << 20})
            .field(
                "uplink_rate", &FabricTemplate::uplink_rate,
                {.help = "of a link between switches; absent: the network's port rate", .min = 1e6})
            .field("ecmp_seed", &FabricTemplate::ecmp_seed,
                   {.help = "of the switches' hash that spreads flows over equal paths"});
    return table;
}

} // namespace trainyard
