#include "sim/report/collectives.h"

#include "sim/cost/collective_form.h"
#include "sim/report/links_left.h"
#include "sim/strategy/bind/fabric_share.h"
#include "sim/strategy/bind/rank_groups.h"
#include "sim/strategy/rank_layout.h"
#include "sim/topology/perturbed_model.h"

#include <algorithm>

namespace trainyard {

namespace {

// Share of a group kind's exchanges that send: those that only receive count as ops and take time,
// yet their bytes are the sender's.
double sending_share(const Outcome& outcome, GroupKind group)
{
    const Program& program = outcome.plan->program;
    std::vector<double> ranks(program.roles.size());
    for (const Lane& lane : outcome.binding->lanes)
        ranks[lane.role.value] += lane.multiplicity;
    std::vector<double> uses(program.blocks.size()); // by all ranks
    for (std::size_t role = 0; role < ranks.size(); ++role)
        for (const BlockUse& use : program.roles[role].order)
            uses[use.block.value] += ranks[role];
    double sending = 0;
    double all = 0;
    for (std::size_t b = 0; b < uses.size(); ++b) {
        const Block& block = program.blocks[b];
        for (const Op& op : block.ops) {
            if (op.kind != OpKind::exchange || program.labels[op.label.value].group != group)
                continue;
            const auto first = block.parts.begin() + op.part_first;
            const bool sends = std::any_of(first, first + op.part_count, [](const auto& part) {
                return part.direction == Direction::send;
            });
            all += uses[b];
            sending += sends ? uses[b] : 0.0;
        }
    }
    return all > 0 ? sending / all : 1.0;
}

CollectiveRow row_of(const TransferTotals& totals, int group_ranks, double world, double senders)
{
    CollectiveRow row;
    row.collective = totals.collective;
    row.group = totals.group;
    row.ranks = group_ranks;
    const auto count = static_cast<double>(totals.count);
    row.count_per_rank = count / world;
    row.mean_size = Bytes(static_cast<std::uint64_t>(totals.bytes / (count * senders)));
    row.mean_time = Seconds(totals.transfer_seconds / count);
    if (totals.transfer_seconds > 0)
        row.algorithm_bandwidth = Bandwidth(totals.bytes / (totals.transfer_seconds * senders));
    row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(totals.collective, group_ranks);
    row.total_per_rank = Seconds(totals.transfer_seconds / world);
    row.exposed_per_rank = Seconds(totals.exposed_seconds / world);
    row.waiting_per_rank = Seconds(totals.waiting_seconds / world);
    return row;
}

GroupShape shape_of_world(const Outcome& outcome)
{
    const std::vector<std::vector<RankId>> world{all_ranks(outcome)};
    GroupShape shape = group_shape(*outcome.topology, devices_of(world.front()));
    shape.health = health_of_world(outcome);
    const FabricPart fabric = fabric_parts(world, in_good_state(*outcome.topology)).front();
    shape.fabric_share = fabric.ring_share;
    shape.network.oversubscription = fabric.oversubscription;
    return shape;
}

// The same constants in a benchmark, where nothing of a training step slows collectives.
CostModel outside_a_step(const CostModel& cost)
{
    const auto alone = [](auto links) {
        links.in_situ = 1;
        links.in_situ_all_to_all = 1;
        return links;
    };
    Profile profile = cost.profile();
    profile.hardware.fabric = alone(profile.hardware.fabric);
    profile.hardware.network = alone(profile.hardware.network);
    NcclSettings settings = cost.nccl_settings();
    if (settings.host_path)
        settings.host_path = alone(*settings.host_path);
    if (settings.sockets)
        settings.sockets = alone(*settings.sockets);
    return CostModel(std::move(profile), std::move(settings));
}

} // namespace

std::vector<CollectiveRow> collective_rows(const Outcome& outcome)
{
    const RankLayout layout(outcome.job);
    std::vector<CollectiveRow> rows;
    for (const TransferTotals& totals : outcome.result->transfers)
        if (totals.count > 0) {
            const bool message = totals.collective == CollectiveKind::send_receive;
            rows.push_back(row_of(totals, layout.group_size(totals.group), outcome.job.world(),
                                  message ? sending_share(outcome, totals.group) : 1.0));
        }
    std::stable_sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
        return a.total_per_rank > b.total_per_rank;
    });
    return rows;
}

std::vector<ClusterCollectiveRow> cluster_collective_rows(const Outcome& outcome)
{
    std::vector<ClusterCollectiveRow> rows;
    const int ranks = outcome.job.world();
    if (ranks <= 1)
        return rows;
    const GroupShape shape = shape_of_world(outcome);
    const CostModel benchmark = outside_a_step(*outcome.cost);
    using enum CollectiveKind;
    for (const CollectiveKind kind :
         {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, barrier})
    {
        ClusterCollectiveRow row;
        row.collective = kind;
        row.ranks = ranks;
        const Bytes size = kind == barrier ? Bytes(0) : cluster_collective_size;
        const Backend backend = outcome.job.strategy.backend;
        row.time = benchmark.collective(kind, size, shape, backend).total;
        row.in_step_time = outcome.cost->collective(kind, size, shape, backend).total;
        if (kind != barrier && row.time.value() > 0) {
            row.size = size;
            row.algorithm_bandwidth = size / row.time;
            row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(kind, ranks);
            row.in_step_bus_bandwidth = size / row.in_step_time * bus_factor(kind, ranks);
        }
        rows.push_back(row);
    }
    return rows;
}

NodePair node_pair(const Outcome& outcome)
{
    const auto nodes = first_nodes(*outcome.topology);
    if (nodes.size() < 2)
        return {};
    const std::array pair{nodes[0].front(), nodes[1].front()};
    if (outcome.topology->path(pair[0], pair[1]).empty())
        return {};
    GroupShape shape = group_shape(*outcome.topology, pair);
    shape.health = health_between_nodes(outcome);
    const Backend backend = outcome.job.strategy.backend;
    const Bytes large = cluster_collective_size;
    return {outcome.cost->send_receive(Bytes(8), shape, backend).total,
            large / outcome.cost->send_receive(large, shape, backend).total};
}

} // namespace trainyard
