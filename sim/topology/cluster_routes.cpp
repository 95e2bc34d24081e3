#include "sim/topology/cluster_routes.h"

#include <algorithm>

namespace trainyard {

struct ClusterRoutes::Walk {
    const ClusterLinks& numbers;
    PathChoice& choice;
    std::vector<LinkId> links = {};

    void take(LinkSection section, int owner, int index, Way way)
    {
        links.push_back(numbers.id({section, owner, index, way}));
    }
    // One of equal next links, by the flow's hash.
    std::size_t choose(std::size_t choices) const { return choice.choose(links.size(), choices); }
    int choose(int choices) const
    {
        return static_cast<int>(choose(static_cast<std::size_t>(choices)));
    }
    int choose(std::span<const int> choices) const { return choices[choose(choices.size())]; }
};

ClusterRoutes::ClusterRoutes(const NodeTemplate& node, const ClosShape& shape,
                             const ClusterLinks& links)
    : node_(node),
      shape_(shape),
      links_(links),
      wires_(nvlink_wires(node)),
      nodes_per_domain_(std::max(1, domain_gpus(node) / node.gpus)),
      gpus_per_switch_(node.gpus / pcie_switch_count(node)),
      nics_per_switch_(std::max(1, node.nics / pcie_switch_count(node))),
      nics_at_host_(node.nics < pcie_switch_count(node)),
      rail_of_nic_(static_cast<std::size_t>(std::max(1, node.nics)))
{
    for (int nic = 0; nic < node.nics; ++nic)
        rail_of_nic_[static_cast<std::size_t>(nic)] = nic * shape.rails / node.nics;
}

std::pair<int, int> ClusterRoutes::nics_of(int gpu) const
{
    if (nics_at_host_)
        return {0, node_.nics};
    const int first = switch_of_gpu(gpu) * nics_per_switch_;
    return {first, first + nics_per_switch_};
}

int ClusterRoutes::leaf_of(int node, int nic) const
{
    return node / shape_.nodes_per_unit * shape_.rails +
           rail_of_nic_[static_cast<std::size_t>(nic)];
}

int ClusterRoutes::layers_between(int leaf, int other) const
{
    if (leaf == other)
        return 0;
    return shape_.pod_of_leaf(leaf) == shape_.pod_of_leaf(other) ? 1 : 2;
}

int ClusterRoutes::fewest_between(int node, int other_node) const
{
    const int leaf = leaf_of(node, 0);
    const int other = leaf_of(other_node, 0);
    if (leaf == other)
        return 0;
    const int last = shape_.rails - 1;
    const bool share_pod = shape_.pod_of_leaf(leaf) <= shape_.pod_of_leaf(other + last) &&
                           shape_.pod_of_leaf(other) <= shape_.pod_of_leaf(leaf + last);
    return share_pod ? 1 : 2;
}

int ClusterRoutes::layers_between(int node, int gpu, int other_node, int other_gpu) const
{
    int fewest = 2;
    const int least = fewest_between(node, other_node);
    const auto [first, last] = nics_of(gpu);
    const auto [other_first, other_last] = nics_of(other_gpu);
    for (int nic = first; nic < last && fewest > least; ++nic)
        for (int other = other_first; other < other_last && fewest > least; ++other)
            fewest =
                std::min(fewest, layers_between(leaf_of(node, nic), leaf_of(other_node, other)));
    return fewest;
}

std::vector<LinkId> ClusterRoutes::route(DeviceId from, DeviceId to, PathChoice& choice) const
{
    Walk walk{links_, choice};
    walk.links.reserve(14); // the longest way: over a relay, both hosts and three layers
    const auto gpus = static_cast<std::uint32_t>(node_.gpus);
    const int from_node = static_cast<int>(from.value / gpus);
    const int to_node = static_cast<int>(to.value / gpus);
    const int from_gpu = static_cast<int>(from.value % gpus);
    const int to_gpu = static_cast<int>(to.value % gpus);
    const bool switched = node_.nvlink.wiring == NvlinkWiring::switched;
    if (switched && from_node / nodes_per_domain_ == to_node / nodes_per_domain_) {
        walk.take(LinkSection::nvlink, from_node, from_gpu, Way::up);
        walk.take(LinkSection::nvlink, to_node, to_gpu, Way::down);
    } else if (from_node != to_node) {
        network_route(walk, from_node, from_gpu, to_node, to_gpu);
    } else if (!nvlink_step(walk, from_node, from_gpu, to_gpu)) {
        pcie_route(walk, from_node, from_gpu, to_gpu);
    }
    return walk.links;
}

// Over direct NVLinks, at most one GPU between. False when that does not reach.
bool ClusterRoutes::nvlink_step(Walk& walk, int node, int from, int to) const
{
    const auto wire = [&](int a, int b) {
        const auto found = std::find_if(wires_.begin(), wires_.end(), [&](const NvlinkWire& w) {
            return w.from == a && w.to == b;
        });
        return found == wires_.end() ? -1 : static_cast<int>(found - wires_.begin());
    };
    if (const int direct = wire(from, to); direct >= 0) {
        walk.take(LinkSection::wire, node, direct, Way::up);
        return true;
    }
    std::vector<int> between;
    for (int gpu = 0; gpu < node_.gpus; ++gpu)
        if (wire(from, gpu) >= 0 && wire(gpu, to) >= 0)
            between.push_back(gpu);
    if (between.empty())
        return false;
    const int relay = walk.choose(between);
    walk.take(LinkSection::wire, node, wire(from, relay), Way::up);
    walk.take(LinkSection::wire, node, wire(relay, to), Way::up);
    return true;
}

void ClusterRoutes::pcie_route(Walk& walk, int node, int from, int to) const
{
    const std::vector<LinkId> path = over_pcie(node, from, to);
    walk.links.insert(walk.links.end(), path.begin(), path.end());
}

std::vector<LinkId> ClusterRoutes::over_pcie(int node, int from, int to) const
{
    std::vector<LinkId> path{links_.id({LinkSection::pcie, node, from, Way::up})};
    // Where C2C leads to the NICs, PCIe leads to the CPU straight.
    if (node_.nic_path == NicPath::pcie && switch_of_gpu(from) != switch_of_gpu(to)) {
        path.push_back(links_.id({LinkSection::host, node, switch_of_gpu(from), Way::up}));
        path.push_back(links_.id({LinkSection::host, node, switch_of_gpu(to), Way::down}));
    }
    path.push_back(links_.id({LinkSection::pcie, node, to, Way::down}));
    return path;
}

// The GPU of the sender's node whose NICs carry the message: the sender, unless one that NVLink
// reaches in a step spares fabric layers.
int ClusterRoutes::relay(const Walk& walk, int from_node, int from_gpu, int to_node,
                         int to_gpu) const
{
    const int own = layers_between(from_node, from_gpu, to_node, to_gpu);
    if (own == fewest_between(from_node, to_node) || node_.nvlink.wiring == NvlinkWiring::none)
        return from_gpu;
    const bool switched = node_.nvlink.wiring == NvlinkWiring::switched;
    int fewest = own - 1;
    std::vector<int> best;
    const auto consider = [&](int gpu) {
        const int layers = layers_between(from_node, gpu, to_node, to_gpu);
        if (layers < fewest)
            best.clear();
        fewest = std::min(fewest, layers);
        if (layers == fewest)
            best.push_back(gpu);
    };
    if (switched)
        for (int gpu = 0; gpu < node_.gpus; ++gpu)
            consider(gpu);
    for (const NvlinkWire& wire : wires_)
        if (wire.from == from_gpu)
            consider(wire.to);
    if (best.empty())
        return from_gpu;
    // The choice is made where the message leaves the NVSwitch: link 1 of the path.
    return best[walk.choice.choose(switched ? 1 : 0, best.size())];
}

void ClusterRoutes::network_route(Walk& walk, int from_node, int from_gpu, int to_node,
                                  int to_gpu) const
{
    const int gpu = relay(walk, from_node, from_gpu, to_node, to_gpu);
    if (gpu != from_gpu && node_.nvlink.wiring == NvlinkWiring::switched) {
        walk.take(LinkSection::nvlink, from_node, from_gpu, Way::up);
        walk.take(LinkSection::nvlink, from_node, gpu, Way::down);
    } else if (gpu != from_gpu) {
        nvlink_step(walk, from_node, from_gpu, gpu);
    }
    const LinkSection to_nic =
        node_.nic_path == NicPath::c2c ? LinkSection::c2c : LinkSection::pcie;
    const bool over_host = nics_at_host_ && node_.gpus > gpus_per_switch_;
    walk.take(to_nic, from_node, gpu, Way::up);
    if (over_host)
        walk.take(LinkSection::host, from_node, switch_of_gpu(gpu), Way::up);

    const int layers = layers_between(from_node, gpu, to_node, to_gpu);
    const auto [first, last] = nics_of(gpu);
    const auto [to_first, to_last] = nics_of(to_gpu);
    std::vector<int> from_nics;
    std::vector<int> to_nics;
    for (int nic = first; nic < last; ++nic)
        for (int other = to_first; other < to_last; ++other)
            if (layers_between(leaf_of(from_node, nic), leaf_of(to_node, other)) == layers) {
                from_nics.push_back(nic);
                break;
            }
    const int nic = walk.choose(from_nics);
    walk.take(LinkSection::nic, from_node, nic, Way::up);
    const int leaf = leaf_of(from_node, nic);
    for (int other = to_first; other < to_last; ++other)
        if (layers_between(leaf, leaf_of(to_node, other)) == layers)
            to_nics.push_back(other);
    climb(walk, leaf, to_node, to_nics, layers);

    if (over_host)
        walk.take(LinkSection::host, to_node, switch_of_gpu(to_gpu), Way::down);
    walk.take(to_nic, to_node, to_gpu, Way::down);
}

// From a leaf to one of the receiver's NICs, up `layers` layers and down again.
void ClusterRoutes::climb(Walk& walk, int leaf, int to_node, std::span<const int> to_nics,
                          int layers) const
{
    std::vector<int> leaves;
    for (const int nic : to_nics)
        if (leaves.empty() || leaves.back() != leaf_of(to_node, nic))
            leaves.push_back(leaf_of(to_node, nic));
    int reached = leaf;
    if (layers > 0) {
        const int uplink = walk.choose(shape_.leaf_uplinks);
        walk.take(LinkSection::leaf, leaf, uplink, Way::up);
        const int spine = uplink % shape_.spines_per_pod;
        if (layers > 1) {
            const int from_spine = shape_.pod_of_leaf(leaf) * shape_.spines_per_pod + spine;
            const int to_spine = shape_.pod_of_leaf(leaves[0]) * shape_.spines_per_pod + spine;
            const int core_link = walk.choose(shape_.spine_uplinks);
            walk.take(LinkSection::spine, from_spine, core_link, Way::up);
            const int parallel = walk.choose(shape_.links_per_core());
            const int core = core_link % shape_.cores_per_group;
            walk.take(LinkSection::spine, to_spine, core + shape_.cores_per_group * parallel,
                      Way::down);
        }
        const int parallel_links = shape_.links_per_spine();
        const int down = walk.choose(static_cast<int>(leaves.size()) * parallel_links);
        reached = leaves[static_cast<std::size_t>(down / parallel_links)];
        walk.take(LinkSection::leaf, reached,
                  spine + shape_.spines_per_pod * (down % parallel_links), Way::down);
    }
    std::vector<int> on_leaf;
    for (const int nic : to_nics)
        if (leaf_of(to_node, nic) == reached)
            on_leaf.push_back(nic);
    walk.take(LinkSection::nic, to_node, walk.choose(on_leaf), Way::down);
}

} // namespace trainyard
