#include "sim/topology/cluster_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace trainyard {
namespace {

ClosShape shape_of(const ClusterDescription& description)
{
    return description.fabric
               ? clos_shape(description.nodes, description.node, *description.fabric).value()
               : ClosShape{};
}

} // namespace

ClusterModel::ClusterModel(ClusterDescription description)
    : description_(std::move(description)),
      shape_(shape_of(description_)),
      nodes_per_domain_(std::max(1, domain_gpus(description_.node) / description_.node.gpus)),
      wires_(nvlink_wires(description_.node)),
      links_(description_.nodes, description_.node, description_.fabric.has_value(), shape_),
      routes_(description_.node, shape_, links_)
{}

int ClusterModel::domain_count() const
{
    return (description_.nodes + nodes_per_domain_ - 1) / nodes_per_domain_;
}

int ClusterModel::nodes_in_domain(DomainId id) const
{
    const int first = static_cast<int>(id.value) * nodes_per_domain_;
    return std::min(nodes_per_domain_, description_.nodes - first);
}

DeviceAttachment ClusterModel::device(DeviceId id) const
{
    const NodeTemplate& node = description_.node;
    const Placement place = placement(id);
    const bool switched = node.nvlink.wiring == NvlinkWiring::switched;
    return {.model = node.device,
            .node = place.node,
            .domain = place.domain,
            .nvlink = node.nvlink.wiring == NvlinkWiring::none ? Bandwidth() : node.nvlink.rate,
            .nvswitch = switched,
            .in_switch_reduction = switched && node.nvlink.reduction,
            .pcie = node.pcie,
            .host_link = node.c2c.value() > 0 ? node.c2c : node.pcie};
}

Placement ClusterModel::placement(DeviceId id) const
{
    const std::uint32_t node = id.value / static_cast<std::uint32_t>(description_.node.gpus);
    return {NodeId{node}, DomainId{node / static_cast<std::uint32_t>(nodes_per_domain_)}};
}

std::string ClusterModel::device_name(DeviceId id) const
{
    const auto gpus = static_cast<std::uint32_t>(description_.node.gpus);
    return fmt::format("node{}/gpu{}", id.value / gpus, id.value % gpus);
}

NodeNetwork ClusterModel::network(NodeId) const
{
    if (!description_.fabric)
        return {};
    const NetworkTemplate& network = description_.fabric->network;
    // There NVLink leads to a GPU on every rail.
    const NvlinkWiring wiring = description_.node.nvlink.wiring;
    const bool one_unit_of_rails = shape_.units == 1 && (wiring == NvlinkWiring::switched ||
                                                         wiring == NvlinkWiring::all_to_all);
    const bool one_leaf = shape_.leaves == 1 || one_unit_of_rails;
    return {.transport = network.transport,
            .name = network.name,
            .nics = description_.node.nics,
            .nic_rate = shape_.nic_rate,
            .gpu_direct = network.gpu_direct,
            .in_network_reduction = network.reduction,
            .oversubscription =
                one_leaf ? 1.0
                         : std::max(shape_.leaf_oversubscription(), shape_.core_oversubscription()),
            .switch_hops = one_leaf           ? 1
                           : shape_.pods == 1 ? 3
                                              : 5};
}

std::vector<DeviceId> ClusterModel::devices_of(NodeId node) const
{
    std::vector<DeviceId> all;
    const auto gpus = static_cast<std::size_t>(description_.node.gpus);
    for (std::size_t i = 0; i < gpus; ++i)
        all.push_back(make_id<DeviceId>(node.value * gpus + i));
    return all;
}

// Over NVSwitch every member has its full rate. Over direct NVLinks a member has the links to the
// other members, provided that these links join all of them.
Bandwidth ClusterModel::nvlink_among(std::span<const DeviceId> members) const
{
    const NvlinkTemplate& nvlink = description_.node.nvlink;
    if (nvlink.wiring == NvlinkWiring::switched)
        return nvlink.rate;
    const auto gpus = static_cast<std::uint32_t>(description_.node.gpus);
    std::vector<int> inside;
    for (const DeviceId member : members)
        inside.push_back(static_cast<int>(member.value % gpus));
    const auto is_member = [&](int gpu) {
        return std::find(inside.begin(), inside.end(), gpu) != inside.end();
    };
    std::vector<int> reached{inside.front()};
    int fewest = std::numeric_limits<int>::max();
    for (std::size_t next = 0; next < reached.size(); ++next) {
        int links = 0;
        for (const NvlinkWire& wire : wires_) {
            if (wire.from != reached[next] || !is_member(wire.to))
                continue;
            links += wire.links;
            if (std::find(reached.begin(), reached.end(), wire.to) == reached.end())
                reached.push_back(wire.to);
        }
        fewest = std::min(fewest, links);
    }
    return reached.size() == inside.size() ? wire_rate(fewest) : Bandwidth();
}

Bandwidth ClusterModel::wire_rate(int links) const
{
    return static_cast<double>(links) * description_.node.nvlink.rate /
           static_cast<double>(nvlinks_per_gpu(description_.node));
}

Link ClusterModel::nic_link() const
{
    const NetworkTemplate& network = description_.fabric->network;
    return {LinkKind::nic, shape_.nic_rate, network.nic_latency + 0.5 * network.switch_latency};
}

// The latency of a switch is shared out between the links on its two sides.
Link ClusterModel::link(LinkId id) const
{
    const LinkPlace place = links_.place(id);
    const NodeTemplate& node = description_.node;
    switch (place.section) {
    case LinkSection::nvlink:
        return {LinkKind::nvlink, node.nvlink.rate, 0.5 * node.nvlink.hop_latency};
    case LinkSection::wire:
        return {LinkKind::nvlink, wire_rate(wires_[static_cast<std::size_t>(place.index)].links),
                node.nvlink.hop_latency};
    case LinkSection::pcie:
    case LinkSection::host:
        return {LinkKind::pcie, node.pcie, node.pcie_latency};
    case LinkSection::c2c:
        return {LinkKind::c2c, node.c2c, node.pcie_latency};
    case LinkSection::nic:
        return nic_link();
    case LinkSection::leaf:
        return {place.way == Way::up ? LinkKind::leaf_up : LinkKind::leaf_down, shape_.uplink_rate,
                description_.fabric->network.switch_latency};
    case LinkSection::spine:
        break;
    }
    return {place.way == Way::up ? LinkKind::spine_up : LinkKind::spine_down, shape_.uplink_rate,
            description_.fabric->network.switch_latency};
}

std::string ClusterModel::link_name(LinkId id) const
{
    const LinkPlace place = links_.place(id);
    const bool up = place.way == Way::up;
    const int owner = place.owner;
    const int index = place.index;
    switch (place.section) {
    case LinkSection::nvlink:
        return fmt::format("node{}/gpu{}/nvlink {}", owner, index, up ? "up" : "down");
    case LinkSection::wire: {
        const NvlinkWire& wire = wires_[static_cast<std::size_t>(index)];
        return fmt::format("node{}/gpu{}/nvlink to gpu{}", owner, wire.from, wire.to);
    }
    case LinkSection::pcie:
        return fmt::format("node{}/gpu{}/pcie {}", owner, index, up ? "up" : "down");
    case LinkSection::c2c:
        return fmt::format("node{}/gpu{}/c2c {}", owner, index, up ? "up" : "down");
    case LinkSection::host:
        return fmt::format("node{}/pcie{}/host {}", owner, index, up ? "up" : "down");
    case LinkSection::nic:
        return fmt::format("node{}/nic{} {}", owner, index, up ? "out" : "in");
    case LinkSection::leaf:
        return fmt::format("leaf{}/uplink{} {}", owner, index, up ? "up" : "down");
    case LinkSection::spine:
        break;
    }
    return fmt::format("spine{}/uplink{} {}", owner, index, up ? "up" : "down");
}

LinkEnds ClusterModel::node_link_ends(const LinkPlace& place) const
{
    const NodeTemplate& node = description_.node;
    const std::string prefix = fmt::format("node{}/", place.owner);
    const std::string gpu = fmt::format("{}gpu{}", prefix, place.index);
    const std::string cpu = prefix + "cpu";
    const bool many_switches = pcie_switch_count(node) > 1;
    const auto pcie_switch = [&](int index) {
        return many_switches && index >= 0 ? fmt::format("{}pcie{}", prefix, index) : cpu;
    };
    switch (place.section) {
    case LinkSection::nvlink:
        return {gpu, fmt::format("domain{}/nvswitch", place.owner / nodes_per_domain_)};
    case LinkSection::wire: {
        const NvlinkWire& wire = wires_[static_cast<std::size_t>(place.index)];
        return {fmt::format("{}gpu{}", prefix, wire.from), fmt::format("{}gpu{}", prefix, wire.to)};
    }
    case LinkSection::pcie:
        return {gpu, node.nic_path == NicPath::c2c
                         ? cpu
                         : pcie_switch(routes_.switch_of_gpu(place.index))};
    case LinkSection::c2c:
        return {gpu, node.nic_path == NicPath::c2c ? pcie_switch(routes_.switch_of_gpu(place.index))
                                                   : cpu};
    case LinkSection::host:
        return {pcie_switch(place.index), cpu};
    default:
        return {pcie_switch(routes_.switch_of_nic(place.index)),
                fmt::format("leaf{}", routes_.leaf_of(place.owner, place.index))};
    }
}

LinkEnds ClusterModel::fabric_link_ends(const LinkPlace& place) const
{
    if (place.section == LinkSection::leaf) {
        const int spine = shape_.pod_of_leaf(place.owner) * shape_.spines_per_pod +
                          place.index % shape_.spines_per_pod;
        return {fmt::format("leaf{}", place.owner), fmt::format("spine{}", spine)};
    }
    const int group = place.owner % shape_.spines_per_pod;
    const int core = group * shape_.cores_per_group + place.index % shape_.cores_per_group;
    return {fmt::format("spine{}", place.owner), fmt::format("core{}", core)};
}

LinkEnds ClusterModel::link_ends(LinkId id) const
{
    const LinkPlace place = links_.place(id);
    const bool in_fabric =
        place.section == LinkSection::leaf || place.section == LinkSection::spine;
    LinkEnds ends = in_fabric ? fabric_link_ends(place) : node_link_ends(place);
    if (place.way == Way::down)
        std::swap(ends.from, ends.to);
    return ends;
}

// Numbers: all leaves, then all pods; up even, down odd.
std::optional<Trunk> ClusterModel::trunk(LinkId id) const
{
    const LinkPlace place = links_.place(id);
    const int down = place.way == Way::down ? 1 : 0;
    if (place.section == LinkSection::leaf)
        return Trunk{.number = static_cast<std::uint32_t>(2 * place.owner + down),
                     .layer = 0,
                     .capacity = shape_.leaf_uplinks * shape_.uplink_rate};
    if (place.section != LinkSection::spine)
        return std::nullopt;
    const int pod = shape_.leaves + place.owner / shape_.spines_per_pod;
    return Trunk{.number = static_cast<std::uint32_t>(2 * pod + down),
                 .layer = 1,
                 .capacity = static_cast<double>(shape_.spine_uplinks) * shape_.spines_per_pod *
                             shape_.uplink_rate};
}

std::vector<LinkId> ClusterModel::route(DeviceId from, DeviceId to, PathChoice& choice) const
{
    return from == to ? std::vector<LinkId>{} : routes_.route(from, to, choice);
}

std::vector<LinkId> ClusterModel::route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                               const CutLinks& cut) const
{
    return from == to ? std::vector<LinkId>{} : routes_.around(from, to, choice, cut);
}

std::uint64_t ClusterModel::ecmp_seed() const
{
    return description_.fabric ? description_.fabric->ecmp_seed : 0;
}

std::vector<SwitchLayer> ClusterModel::switch_layers() const
{
    std::vector<SwitchLayer> layers;
    if (!description_.fabric)
        return layers;
    layers.push_back({"leaf", shape_.leaves});
    if (shape_.spines() > 0)
        layers.push_back({"spine", shape_.spines()});
    if (shape_.cores() > 0)
        layers.push_back({"core", shape_.cores()});
    return layers;
}

std::vector<FabricLayer> ClusterModel::fabric_layers() const
{
    std::vector<FabricLayer> layers;
    const auto add = [&](const char* name, std::int64_t links, double oversubscription) {
        if (links > 0)
            layers.push_back(
                {name, links, static_cast<double>(links) * shape_.uplink_rate, oversubscription});
    };
    add("leaf to spine", std::int64_t{shape_.leaves} * shape_.leaf_uplinks,
        shape_.leaf_oversubscription());
    add("spine to core", std::int64_t{shape_.spines()} * shape_.spine_uplinks,
        shape_.core_oversubscription());
    return layers;
}

// Half of the domains send to the other half at the rate of their NICs, less the oversubscription
// of the layers that traffic between the halves has to climb.
Bandwidth ClusterModel::bisection() const
{
    const NodeTemplate& node = description_.node;
    if (domain_count() == 1) {
        const double half = device_count() / 2;
        return half * (node.nvlink.wiring == NvlinkWiring::none ? node.pcie : node.nvlink.rate);
    }
    const double nics = static_cast<double>(domain_count() / 2) * nodes_per_domain_ * node.nics;
    return nics / network(NodeId{0}).oversubscription * shape_.nic_rate;
}

} // namespace trainyard
