#include "sim/report/traffic.h"

#include "sim/cost/collective_form.h"
#include "sim/report/links_left.h"
#include "sim/strategy/rank_layout.h"
#include "sim/strategy/stages.h"
#include "sim/study/environment_effects.h"
#include "sim/topology/topology_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace trainyard {

namespace {

std::string_view link_title(LinkKind kind)
{
    switch (kind) {
    case LinkKind::nvlink:
        return "NVLink";
    case LinkKind::c2c:
        return "C2C";
    case LinkKind::pcie:
        return "PCIe";
    case LinkKind::nic:
        return "NIC";
    case LinkKind::leaf_up:
        return "leaf to spine";
    case LinkKind::leaf_down:
        return "spine to leaf";
    case LinkKind::spine_up:
        return "spine to core";
    case LinkKind::spine_down:
        return "core to spine";
    case LinkKind::other:
        break;
    }
    return "other links";
}

std::string link_title(LinkKind kind, const NodeNetwork& network)
{
    if (kind == LinkKind::nic && !network.name.empty())
        return fmt::format("NIC {}", network.name);
    return std::string(link_title(kind));
}

DomainId domain_of(const Outcome& outcome, RankId rank)
{
    return outcome.topology->device(DeviceId{rank.value}).domain;
}

// Ranks of the domain that holds most of them.
int ranks_per_domain(const Outcome& outcome, const std::vector<RankId>& members)
{
    std::map<DomainId, int> count;
    int most = 0;
    for (const RankId rank : members)
        most = std::max(most, ++count[domain_of(outcome, rank)]);
    return most;
}

// Share of a pipeline's hand-overs that leave the domain. Chunks in a loop close the ring.
TrafficSplit message_split(const Outcome& outcome, const std::vector<RankId>& stages)
{
    const PipelineShape shape{outcome.job.strategy.pp, outcome.job.strategy.vpp};
    const bool ring = shape.chunks > 1 &&
                      placement_of(outcome.job) == looped_placement(shape.stages, shape.chunks);
    const std::size_t hops = ring ? stages.size() : stages.size() - 1;
    if (stages.size() < 2 || hops == 0)
        return {};
    std::size_t outside = 0;
    for (std::size_t i = 0; i < hops; ++i)
        if (domain_of(outcome, stages[i]) != domain_of(outcome, stages[(i + 1) % stages.size()]))
            ++outside;
    const double share = static_cast<double>(outside) / static_cast<double>(hops);
    return {1 - share, share};
}

// Bytes per step inside and out of the domains, over all ranks.
TrafficSplit bytes_per_step(const Outcome& outcome)
{
    TrafficSplit sum;
    for (const TransferTotals& totals : outcome.result->transfers) {
        const TrafficSplit split = traffic_split(outcome, totals.collective, totals.group);
        sum.inside += totals.bytes * split.inside;
        sum.outside += totals.bytes * split.outside;
    }
    return sum;
}

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
    return row(link_title(kind), share_left(outcome, kind) * rate, bytes.inside);
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

std::vector<LinkClassRow> rows_from_transfers(const Outcome& outcome)
{
    const Seconds step = to_seconds(outcome.result->step_time);
    const NcclSettings nccl = nccl_settings(outcome);
    TrafficSplit bytes = bytes_per_step(outcome);
    if (nccl.one_rank_domains)
        bytes = {0, bytes.inside + bytes.outside};
    const DeviceAttachment device = outcome.topology->device(DeviceId{0});
    std::vector<LinkClassRow> rows;
    const LinkClassRow inside = inside_row(outcome, bytes, nccl);
    if (inside.bytes > 0 || device.nvlink.value() > 0)
        rows.push_back(inside);
    const NodeNetwork network = outcome.topology->network(device.node);
    if (network.nics > 0) {
        rows.push_back({link_title(LinkKind::nic, network),
                        nodes_in_use(outcome) * static_cast<std::size_t>(network.nics),
                        share_left(outcome, LinkKind::nic) * network.nic_rate, bytes.outside, 0});
    }
    for (LinkClassRow& row : rows)
        row.utilization = utilization(row, step);
    return rows;
}

std::vector<LinkClassRow> rows_from_links(const Outcome& outcome)
{
    const Seconds step = to_seconds(outcome.result->step_time);
    const NodeNetwork network = outcome.topology->network(NodeId{0});
    std::map<std::pair<LinkKind, double>, LinkClassRow> classes;
    for (const LinkTotals& totals : outcome.result->links) {
        const Link link = outcome.topology->link(totals.link);
        LinkClassRow& row = classes[{link.kind, link.capacity.value()}];
        row.name = link_title(link.kind, network);
        row.capacity = link.capacity;
        row.bytes += totals.bytes;
        ++row.links;
    }
    std::vector<LinkClassRow> rows;
    for (auto& [key, row] : classes) {
        row.utilization = utilization(row, step);
        rows.push_back(row);
    }
    return rows;
}

} // namespace

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

TrafficSplit traffic_split(CollectiveKind kind, int ranks, int ranks_per_domain)
{
    if (ranks <= 1)
        return {};
    const double sent = bus_factor(kind, ranks);
    double outside = ranks_per_domain == ranks ? 0.0 : 1.0 / ranks_per_domain;
    if (kind == CollectiveKind::all_to_all)
        outside = static_cast<double>(ranks - ranks_per_domain) / (ranks - 1);
    return {sent * (1 - outside), sent * outside};
}

TrafficSplit traffic_split(const Outcome& outcome, CollectiveKind collective, GroupKind group)
{
    const RankLayout layout(outcome.job);
    std::vector<std::optional<TrafficSplit>> known(static_cast<std::size_t>(outcome.job.world()));
    // Ranks of each split: added up in this order, the same whether ranks fold or not.
    std::map<std::pair<double, double>, std::uint64_t> ranks_of;
    for (const Lane& lane : outcome.binding->lanes) {
        if (!known[lane.rank.value]) {
            const std::vector<RankId> members = layout.members(group, lane.rank);
            if (members.size() < 2)
                continue;
            const TrafficSplit split =
                collective == CollectiveKind::send_receive
                    ? message_split(outcome, members)
                    : traffic_split(collective, static_cast<int>(members.size()),
                                    ranks_per_domain(outcome, members));
            for (const RankId member : members)
                known[member.value] = split;
        }
        const TrafficSplit& split = *known[lane.rank.value];
        ranks_of[{split.inside, split.outside}] += lane.multiplicity;
    }
    TrafficSplit sum;
    double ranks = 0;
    for (const auto& [split, count] : ranks_of) {
        sum.inside += split.first * static_cast<double>(count);
        sum.outside += split.second * static_cast<double>(count);
        ranks += static_cast<double>(count);
    }
    return ranks > 0 ? TrafficSplit{sum.inside / ranks, sum.outside / ranks} : TrafficSplit{};
}

std::vector<LinkClassRow> link_rows(const Outcome& outcome)
{
    return outcome.result->links.empty() ? rows_from_transfers(outcome) : rows_from_links(outcome);
}

Bandwidth nic_rate_per_gpu(const Outcome& outcome)
{
    const NodeId first{0};
    const NodeNetwork network = outcome.topology->network(first);
    return network.nic_rate * network.nics / outcome.topology->model().gpus_in_node(first);
}

} // namespace trainyard
