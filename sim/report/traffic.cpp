#include "sim/report/traffic.h"

#include "sim/report/links_left.h"
#include "sim/study/environment_effects.h"
#include "sim/topology/topology_model.h"

#include <fmt/core.h>

#include <map>
#include <utility>

namespace trainyard {

namespace {

double utilization(const LinkClassRow& row, Seconds step)
{
    const double could = row.capacity.value() * static_cast<double>(row.links) * step.value();
    return could > 0 ? row.bytes / could : 0.0;
}

// What carries bytes inside a domain. Gloo and MPI go through the hosts, on their way out too; so
// do devices of a node that may not copy to each other.
LinkClassRow inside_row(const Outcome& outcome, const TrafficSplit& bytes, const NcclSettings& nccl)
{
    const DeviceAttachment device = outcome.topology->device(DeviceId{0});
    const auto world = static_cast<std::size_t>(outcome.job.world());
    const auto row = [&](std::string_view title, Bandwidth capacity, double carried) {
        return LinkClassRow{std::string(title), world, capacity, carried, 0};
    };
    if (on_host(outcome.job.strategy.backend))
        return row("host link", device.host_link, bytes.inside + bytes.outside);
    if (nccl.host_path)
        return row("host link", device.host_link, bytes.inside);
    const LinkKind kind = device.nvlink.value() > 0 ? LinkKind::nvlink : LinkKind::pcie;
    const Bandwidth rate = kind == LinkKind::nvlink ? device.nvlink : device.pcie;
    const bool carries_all = kind == LinkKind::pcie; // what leaves the domain, too
    return row(kind == LinkKind::nvlink ? "NVLink" : "PCIe", share_left(outcome, kind) * rate,
               bytes.inside + (carries_all ? bytes.outside : 0.0));
}

// Ranks follow each other node by node.
std::size_t nodes_in_use(const Outcome& outcome)
{
    std::size_t nodes = 0;
    NodeId last;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(outcome.job.world()); ++rank)
        if (const NodeId node = outcome.topology->model().placement(make_id<DeviceId>(rank)).node;
            std::exchange(last, node) != node)
            ++nodes;
    return nodes;
}

std::string_view trunk_title(LinkKind kind)
{
    switch (kind) {
    case LinkKind::leaf_up:
        return "leaf to spine";
    case LinkKind::leaf_down:
        return "spine to leaf";
    case LinkKind::spine_up:
        return "spine to core";
    case LinkKind::spine_down:
        return "core to spine";
    case LinkKind::other:
        return "other links";
    case LinkKind::nvlink:
    case LinkKind::c2c:
    case LinkKind::pcie:
    case LinkKind::nic:
        break; // of a node
    }
    return {};
}

// Which trunks a message takes is known where the engine laid it on them.
std::vector<LinkClassRow> trunk_rows(const Outcome& outcome)
{
    std::map<std::pair<LinkKind, double>, LinkClassRow> classes;
    for (const LinkTotals& totals : outcome.result->links) {
        const Link link = outcome.topology->link(totals.link);
        const std::string_view title = trunk_title(link.kind);
        if (title.empty())
            continue;
        LinkClassRow& row = classes[{link.kind, link.capacity.value()}];
        row.name = title;
        row.capacity = link.capacity;
        row.bytes += totals.bytes;
        ++row.links;
    }
    std::vector<LinkClassRow> rows;
    for (auto& [key, row] : classes)
        rows.push_back(std::move(row));
    return rows;
}

} // namespace

std::vector<TransferTraffic> traffic_of(const Outcome& outcome)
{
    return step_traffic(outcome.plan->program, *outcome.binding, outcome.job, *outcome.topology);
}

NcclSettings nccl_settings(const Outcome& outcome)
{
    const auto& environment = outcome.scenario.environment;
    if (environment.empty() || on_host(outcome.job.strategy.backend))
        return {};
    const DeviceAttachment device = outcome.topology->device(DeviceId{0});
    return effects_of(environment,
                      {outcome.cost->profile(), device, outcome.topology->network(device.node)})
        .nccl;
}

TrafficSplit bytes_per_payload(std::span<const TransferTraffic> traffic, CollectiveKind collective,
                               GroupKind group)
{
    TrafficSplit sum;
    double payload = 0;
    for (const TransferTraffic& part : traffic) {
        if (part.collective != collective || part.group != group)
            continue;
        const auto times = static_cast<double>(part.times);
        sum.inside += times * part.bytes.inside;
        sum.outside += times * part.bytes.outside;
        payload += times * part.payload;
    }
    return payload > 0 ? TrafficSplit{sum.inside / payload, sum.outside / payload} : TrafficSplit{};
}

std::vector<LinkClassRow> link_rows(const Outcome& outcome)
{
    return link_rows(outcome, traffic_of(outcome));
}

std::vector<LinkClassRow> link_rows(const Outcome& outcome,
                                    std::span<const TransferTraffic> traffic)
{
    const Seconds step = to_seconds(outcome.result->step_time);
    const NcclSettings nccl = nccl_settings(outcome);
    TrafficSplit bytes;
    for (const TransferTraffic& part : traffic) {
        const auto times = static_cast<double>(part.times);
        bytes.inside += times * part.bytes.inside;
        bytes.outside += times * part.bytes.outside;
    }
    if (nccl.one_rank_domains)
        bytes = {0, bytes.inside + bytes.outside};
    const DeviceAttachment device = outcome.topology->device(DeviceId{0});
    std::vector<LinkClassRow> rows;
    const LinkClassRow inside = inside_row(outcome, bytes, nccl);
    if (inside.bytes > 0 || device.nvlink.value() > 0)
        rows.push_back(inside);
    const NodeNetwork network = outcome.topology->network(device.node);
    if (network.nics > 0) {
        rows.push_back({network.name.empty() ? "NIC" : fmt::format("NIC {}", network.name),
                        nodes_in_use(outcome) * static_cast<std::size_t>(network.nics),
                        share_left(outcome, LinkKind::nic) * network.nic_rate, bytes.outside, 0});
    }
    for (LinkClassRow& row : trunk_rows(outcome))
        rows.push_back(std::move(row));
    for (LinkClassRow& row : rows)
        row.utilization = utilization(row, step);
    return rows;
}

Bandwidth nic_rate_per_gpu(const Outcome& outcome)
{
    const NodeId first{0};
    const NodeNetwork network = outcome.topology->network(first);
    return network.nic_rate * network.nics / outcome.topology->model().gpus_in_node(first);
}

} // namespace trainyard
