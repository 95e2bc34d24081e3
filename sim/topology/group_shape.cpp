#include "sim/topology/group_shape.h"

#include "sim/topology/topology_model.h"

#include <algorithm>
#include <cassert>

namespace trainyard {
namespace {

// How often the most and the least frequent value occur and how many values there are.
struct Occurrences {
    int distinct = 0;
    int most = 0;
    int fewest = 0;
    std::uint32_t most_frequent = 0; // the first of them
};

Occurrences count_sorted(std::span<const std::uint32_t> values)
{
    Occurrences out;
    for (std::size_t first = 0; first < values.size();) {
        std::size_t last = first;
        while (last < values.size() && values[last] == values[first])
            ++last;
        ++out.distinct;
        const int times = static_cast<int>(last - first);
        out.fewest = out.fewest == 0 ? times : std::min(out.fewest, times);
        if (times > out.most) {
            out.most = times;
            out.most_frequent = values[first];
        }
        first = last;
    }
    return out;
}

Occurrences count_occurrences(std::span<const std::uint32_t> values)
{
    if (std::ranges::is_sorted(values)) // as members mostly are
        return count_sorted(values);
    std::vector<std::uint32_t> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    return count_sorted(sorted);
}

// Distance of the first two members, in device number, that share a node.
int stride_in_node(std::span<const DeviceId> members, std::span<const std::uint32_t> nodes)
{
    for (std::size_t i = 1; i < members.size(); ++i)
        if (nodes[i] == nodes[i - 1]) {
            const auto a = static_cast<std::int64_t>(members[i - 1].value);
            const auto b = static_cast<std::int64_t>(members[i].value);
            return static_cast<int>(b > a ? b - a : a - b);
        }
    return 1;
}

} // namespace

Bandwidth GroupShape::nic_rate_per_gpu() const
{
    return static_cast<double>(network.nics) / gpus_per_node * network.nic_rate;
}

GroupShape group_shape(const Topology& topology, std::span<const DeviceId> members)
{
    assert(!members.empty());
    const TopologyModel& model = topology.model();
    std::vector<std::uint32_t> places(2 * members.size());
    const std::span nodes = std::span(places).first(members.size());
    const std::span domains = std::span(places).last(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
        const Placement place = model.placement(members[i]);
        nodes[i] = place.node.value;
        domains[i] = place.domain.value;
    }
    const Occurrences by_node = count_occurrences(nodes);
    const Occurrences by_domain = count_occurrences(domains);
    const DeviceAttachment first = model.device(members.front());

    GroupShape shape;
    shape.ranks = static_cast<int>(members.size());
    shape.domains = by_domain.distinct;
    shape.nodes = by_node.distinct;
    shape.ranks_per_domain = by_domain.most;
    shape.fewest_per_domain = by_domain.fewest;
    shape.ranks_per_node = by_node.most;
    shape.stride = stride_in_node(members, nodes);
    shape.nvlink = first.nvlink;
    if (by_domain.most > 1) {
        std::vector<DeviceId> together;
        for (std::size_t i = 0; i < members.size(); ++i)
            if (domains[i] == by_domain.most_frequent)
                together.push_back(members[i]);
        shape.nvlink = model.nvlink_among(together);
    }
    shape.pcie = first.pcie;
    shape.nvswitch = first.nvswitch;
    shape.in_switch_reduction = first.in_switch_reduction;
    shape.network = model.network(first.node);
    shape.gpus_per_node = model.gpus_in_node(first.node);
    shape.nodes_per_domain = model.nodes_in_domain(first.domain);
    return shape;
}

} // namespace trainyard
