#include "sim/topology/clos.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

int ceil_div(std::int64_t a, std::int64_t b)
{
    return static_cast<int>((a + b - 1) / b);
}

// Ports that a switch points downwards when it is oversubscribed by `ratio`: the rest carry
// downwards / ratio upwards.
int down_ports(int ports, double ratio)
{
    return std::clamp(static_cast<int>(std::floor(ports * ratio / (1.0 + ratio) + 1e-9)), 1,
                      ports - 1);
}

// Beyond any fabric, and safe to multiply.
constexpr double most_links = 1 << 20; // of one switch
constexpr std::int64_t most_uplinks = 1 << 24;

int to_count(double value)
{
    return static_cast<int>(std::min(value, most_links + 1));
}

// Links upwards that carry `rate` / `ratio`.
int links_for(Bandwidth rate, double ratio, Bandwidth link)
{
    return std::max(1, to_count(std::ceil(rate / link / ratio - 1e-9)));
}

// The fewest switches, at least `least`, over which `links` spread evenly; 0 when `least` exceeds
// them.
int even_spread(int links, int least)
{
    for (int switches = std::max(1, least); switches <= links; ++switches)
        if (links % switches == 0)
            return switches;
    return 0;
}

int default_nodes_per_unit(int nodes, const NodeTemplate& node, const FabricTemplate& fabric,
                           const ClosShape& shape)
{
    const int nics_per_leaf = node.nics / shape.rails;
    const double ports_per_nic = std::max(1.0, shape.uplink_rate / shape.nic_rate);
    // A port of 400 Gb/s may be split for NICs of 100 Gb/s.
    const int ports = to_count(fabric.network.switch_ports * ports_per_nic);
    // One switch holds everything: no uplinks needed.
    if (shape.rails == 1 && nodes * nics_per_leaf <= ports && fabric.kind != FabricKind::fat_tree)
        return nodes;
    const int down =
        to_count(down_ports(fabric.network.switch_ports, fabric.oversubscription) * ports_per_nic);
    const int fit = down / nics_per_leaf;
    const int domain_nodes = domain_gpus(node) / node.gpus;
    return fit > domain_nodes ? fit - fit % domain_nodes : fit;
}

ClosFlaw no_room_for_a_node(const NodeTemplate& node, const FabricTemplate& fabric)
{
    return {"/fabric/network/switch_ports",
            fmt::format("a switch of {} ports cannot take the {} NICs of one node and their "
                        "uplinks",
                        fabric.network.switch_ports, node.nics),
            "use \"kind\": \"rail\" (each NIC on a leaf of its own), more \"rails\", or a switch "
            "with more ports"};
}

// The layer of spines (and cores) above `shape.leaves` leaves.
tl::expected<ClosShape, ClosFlaw> with_spines(ClosShape shape, const FabricTemplate& fabric)
{
    const int ports = fabric.network.switch_ports;
    if (fabric.kind != FabricKind::fat_tree && fabric.units_per_pod == 0) {
        const int least = ceil_div(std::int64_t{shape.leaves} * shape.leaf_uplinks, ports);
        shape.spines_per_pod = even_spread(shape.leaf_uplinks, least);
        shape.units_per_pod = shape.units;
        if (shape.spines_per_pod > 0)
            return shape;
    }
    const int spine_down = down_ports(ports, fabric.core_oversubscription);
    const int usual_units = std::max(1, spine_down / shape.rails);
    shape.units_per_pod =
        std::min(shape.units, fabric.units_per_pod > 0 ? fabric.units_per_pod : usual_units);
    shape.pods = ceil_div(shape.units, shape.units_per_pod);
    const std::int64_t pod_links = std::int64_t{shape.leaves_per_pod()} * shape.leaf_uplinks;
    shape.spines_per_pod = even_spread(shape.leaf_uplinks, ceil_div(pod_links, spine_down));
    if (shape.spines_per_pod == 0) // a chassis switch: one port per leaf on each spine
        shape.spines_per_pod = shape.leaf_uplinks;
    if (shape.pods == 1)
        return shape;
    const int leaf_links = shape.leaves_per_pod() * shape.links_per_spine();
    shape.spine_uplinks =
        std::max(1, static_cast<int>(std::ceil(leaf_links / fabric.core_oversubscription - 1e-9)));
    const std::int64_t group_links = std::int64_t{shape.pods} * shape.spine_uplinks;
    shape.cores_per_group = even_spread(shape.spine_uplinks, ceil_div(group_links, ports));
    if (shape.cores_per_group == 0)
        return tl::unexpected(ClosFlaw{
            "/nodes",
            fmt::format("three layers of {}-port switches hold {} pods of {} nodes, not {}", ports,
                        ports, shape.units_per_pod * shape.nodes_per_unit, shape.pods),
            "fewer nodes, larger switches (fabric.network.switch_ports), or a higher "
            "oversubscription"});
    return shape;
}

} // namespace

double ClosShape::leaf_oversubscription() const
{
    if (leaf_uplinks == 0)
        return 1.0;
    return std::max(1.0, leaf_downlinks * nic_rate / (leaf_uplinks * uplink_rate));
}

double ClosShape::core_oversubscription() const
{
    if (spine_uplinks == 0)
        return 1.0;
    const double nic_total = static_cast<double>(leaf_downlinks) * leaves_per_pod();
    const double core_links = static_cast<double>(spine_uplinks) * spines_per_pod;
    return std::max(1.0, nic_total * nic_rate / (core_links * uplink_rate));
}

tl::expected<ClosShape, ClosFlaw> clos_shape(int nodes, const NodeTemplate& node,
                                             const FabricTemplate& fabric)
{
    ClosShape shape;
    shape.nic_rate = node.nic_rate.value_or(fabric.network.port_rate);
    shape.uplink_rate = fabric.uplink_rate.value_or(fabric.network.port_rate);
    shape.rails = fabric.rails > 0 ? fabric.rails : fabric.kind == FabricKind::rail ? node.nics : 1;
    if (node.nics % shape.rails != 0)
        return tl::unexpected(ClosFlaw{
            "/fabric/rails",
            fmt::format("{} rails do not divide the {} NICs of a node", shape.rails, node.nics),
            "each rail takes the same number of a node's NICs"});
    const int per_unit = fabric.nodes_per_unit > 0
                             ? fabric.nodes_per_unit
                             : default_nodes_per_unit(nodes, node, fabric, shape);
    if (per_unit == 0)
        return tl::unexpected(no_room_for_a_node(node, fabric));
    shape.nodes_per_unit = std::min(nodes, per_unit);
    shape.units = ceil_div(nodes, shape.nodes_per_unit);
    shape.leaves = shape.units * shape.rails;
    shape.leaf_downlinks = shape.nodes_per_unit * (node.nics / shape.rails);
    if (shape.leaves == 1)
        return shape;
    const Bandwidth below = static_cast<double>(shape.leaf_downlinks) * shape.nic_rate;
    shape.leaf_uplinks = links_for(below, fabric.oversubscription, shape.uplink_rate);
    if (std::int64_t{shape.leaves} * shape.leaf_uplinks > most_uplinks)
        return tl::unexpected(ClosFlaw{"/fabric", "more than 16,777,216 uplinks of leaf switches",
                                       "fewer nodes; or is the unit of a rate wrong?"});
    return with_spines(shape, fabric);
}

} // namespace trainyard
