#include "sim/topology/explicit_model.h"

#include "sim/topology/explicit_trunks.h"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard {
namespace {

bool is_network(LinkKind kind)
{
    return kind != LinkKind::nvlink && kind != LinkKind::c2c && kind != LinkKind::pcie;
}

} // namespace

ExplicitModel::ExplicitModel(ExplicitDescription description)
    : description_(std::move(description)),
      pieces_(put_together(description_)),
      trunks_(find_trunks(pieces_)),
      graph_(pieces_),
      attachments_(find_attachments()),
      networks_(find_networks())
{}

Placement ExplicitModel::placement(DeviceId id) const
{
    return {attachments_[id.value].node, attachments_[id.value].domain};
}

std::string ExplicitModel::device_name(DeviceId id) const
{
    return pieces_.pieces[id.value].name;
}

std::vector<DeviceId> ExplicitModel::devices_of(NodeId node) const
{
    std::vector<DeviceId> all;
    for (std::size_t i = 0; i < attachments_.size(); ++i)
        if (attachments_[i].node == node)
            all.push_back(make_id<DeviceId>(i));
    return all;
}

int ExplicitModel::nodes_in_domain(DomainId id) const
{
    const auto& domains = pieces_.domain_of_node;
    return static_cast<int>(std::count(domains.begin(), domains.end(), static_cast<int>(id.value)));
}

std::vector<DeviceAttachment> ExplicitModel::find_attachments() const
{
    std::vector<DeviceAttachment> all(to_size(pieces_.devices));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int node = pieces_.pieces[i].node;
        all[i].model = description_.devices[i].model;
        all[i].node = make_id<NodeId>(to_size(node));
        all[i].domain = make_id<DomainId>(to_size(pieces_.domain_of_node[to_size(node)]));
    }
    for (const DirectedLink& link : pieces_.links) {
        if (!pieces_.is_device(link.from))
            continue;
        DeviceAttachment& device = all[to_size(link.from)];
        if (link.link.kind == LinkKind::nvlink) {
            device.nvlink += link.link.capacity;
            if (pieces_.is_nvswitch(link.to)) {
                device.nvswitch = true;
                device.in_switch_reduction =
                    device.in_switch_reduction || pieces_.pieces[to_size(link.to)].reduction;
            }
        } else if (link.link.kind == LinkKind::c2c) {
            device.host_link = std::max(device.host_link, link.link.capacity);
        } else if (link.link.kind == LinkKind::pcie) {
            device.pcie = std::max(device.pcie, link.link.capacity);
        }
    }
    for (DeviceAttachment& device : all)
        if (device.host_link.value() == 0)
            device.host_link = device.pcie;
    return all;
}

std::vector<NodeNetwork> ExplicitModel::find_networks() const
{
    NodeNetwork common;
    if (description_.network) {
        common.transport = description_.network->transport;
        common.name = description_.network->name;
        common.gpu_direct = description_.network->gpu_direct;
        common.in_network_reduction = description_.network->reduction;
    }
    common.switch_hops = most_switch_hops();
    if (common.switch_hops > 1)
        for (const FabricLayer& layer : fabric_layers())
            common.oversubscription = std::max(common.oversubscription, layer.oversubscription);
    std::vector<NodeNetwork> all(pieces_.nodes.size(), common);
    for (const DirectedLink& link : pieces_.links) {
        const int node = pieces_.pieces[to_size(link.from)].node;
        if (link.link.kind != LinkKind::nic || node < 0)
            continue;
        NodeNetwork& network = all[to_size(node)];
        network.nic_rate =
            network.nics == 0 ? link.link.capacity : std::min(network.nic_rate, link.link.capacity);
        ++network.nics;
    }
    return all;
}

// Over at most 64 pairs of devices, spread over the cluster: the first and the last device of the
// first node, to every so many devices.
int ExplicitModel::most_switch_hops() const
{
    const int stride = std::max(1, pieces_.devices / 32);
    const auto first_node = static_cast<int>(devices_of(NodeId{0}).size());
    std::size_t most = 1;
    for (const int from : {0, first_node - 1})
        for (int to = pieces_.devices - 1; to >= first_node; to -= stride) {
            FlowHash choice(0, make_id<DeviceId>(to_size(from)), make_id<DeviceId>(to_size(to)), 0);
            std::size_t network_links = 0;
            for (const LinkId link : graph_.route(from, to, choice))
                network_links += is_network(this->link(link).kind) ? 1 : 0;
            most = std::max(most, network_links == 0 ? 0 : network_links - 1);
        }
    return static_cast<int>(most);
}

// As for compact clusters: a member has the links to the other members, all of them if through
// switches, provided that NVLink joins them.
Bandwidth ExplicitModel::nvlink_among(std::span<const DeviceId> members) const
{
    if (attachments_[members.front().value].nvswitch)
        return attachments_[members.front().value].nvlink;
    std::vector<std::uint32_t> reached{members.front().value};
    Bandwidth least(std::numeric_limits<double>::max());
    for (std::size_t next = 0; next < reached.size(); ++next) {
        Bandwidth rate;
        for (const DirectedLink& link : pieces_.links) {
            const DeviceId to = make_id<DeviceId>(to_size(link.to));
            if (link.link.kind != LinkKind::nvlink || to_size(link.from) != reached[next] ||
                std::find(members.begin(), members.end(), to) == members.end())
                continue;
            rate += link.link.capacity;
            if (std::find(reached.begin(), reached.end(), to.value) == reached.end())
                reached.push_back(to.value);
        }
        least = std::min(least, rate);
    }
    return reached.size() == members.size() ? least : Bandwidth();
}

LinkEnds ExplicitModel::link_ends(LinkId id) const
{
    const DirectedLink& link = pieces_.links[id.value];
    return {pieces_.pieces[to_size(link.from)].name, pieces_.pieces[to_size(link.to)].name};
}

std::optional<Trunk> ExplicitModel::trunk(LinkId id) const
{
    return trunks_[id.value];
}

std::vector<LinkId> ExplicitModel::route(DeviceId from, DeviceId to, PathChoice& choice) const
{
    if (from == to)
        return {};
    return graph_.route(static_cast<int>(from.value), static_cast<int>(to.value), choice);
}

// A graph of its own each time: explicit clusters are small, and few pairs lose their usual path.
std::vector<LinkId> ExplicitModel::route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                                const CutLinks& cut) const
{
    if (from == to)
        return {};
    return ExplicitGraph(pieces_, cut)
        .route(static_cast<int>(from.value), static_cast<int>(to.value), choice);
}

namespace {

std::string layer_name(int layer)
{
    static const char* const names[] = {"leaf", "spine", "core"};
    return layer <= 3 ? names[layer - 1] : "layer " + std::to_string(layer);
}

} // namespace

std::vector<SwitchLayer> ExplicitModel::switch_layers() const
{
    std::map<int, std::int64_t> counts;
    for (const Piece& piece : pieces_.pieces)
        if (piece.layer > 0)
            ++counts[piece.layer];
    std::vector<SwitchLayer> layers;
    for (const auto& [layer, switches] : counts)
        layers.push_back({layer_name(layer), switches});
    return layers;
}

std::vector<FabricLayer> ExplicitModel::fabric_layers() const
{
    Bandwidth nics;
    std::map<int, FabricLayer> above; // by the lower layer
    for (const DirectedLink& link : pieces_.links) {
        const int from = pieces_.pieces[to_size(link.from)].layer;
        const int to = pieces_.pieces[to_size(link.to)].layer;
        if (from == 0 && to == 1)
            nics += link.link.capacity;
        if (from == 0 || to != from + 1)
            continue;
        FabricLayer& layer = above[from];
        layer.name = layer_name(from) + " to " + layer_name(to);
        ++layer.links;
        layer.capacity += link.link.capacity;
    }
    std::vector<FabricLayer> layers;
    for (auto& [from, layer] : above) {
        layer.oversubscription = std::max(1.0, nics / layer.capacity);
        layers.push_back(layer);
    }
    return layers;
}

Bandwidth ExplicitModel::bisection() const
{
    std::vector<bool> first_half;
    for (std::size_t i = 0; i < attachments_.size(); ++i)
        first_half.push_back(pieces_.domains > 1 ? static_cast<int>(attachments_[i].domain.value) <
                                                       pieces_.domains / 2
                                                 : i < attachments_.size() / 2);
    return graph_.cut(first_half);
}

} // namespace trainyard
