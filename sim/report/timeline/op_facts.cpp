#include "sim/report/timeline/op_facts.h"

#include "sim/strategy/rank_layout.h"

#include <algorithm>

namespace trainyard {

namespace {

Bytes bytes_of_parts(const Outcome& outcome, const RecordGraph& graph, RecordIndex record)
{
    const engine::FlatOp& op = graph.op_of(record);
    Bytes sent;
    Bytes received;
    const auto& parts = graph.kind_of(graph.records()[record].lane).parts;
    for (std::uint32_t p = 0; p < op.part_count; ++p) {
        const engine::PartPlan& part = parts[op.part_first + p];
        (part.direction == Direction::send ? sent : received) +=
            outcome.plan->transfers[part.cost.value].bytes;
    }
    return sent.value() > 0 ? sent : received;
}

std::vector<RankId> ranks_of_messages(const Outcome& outcome, const RecordGraph& graph,
                                      RecordIndex record)
{
    const OpRecord& at = graph.records()[record];
    const Lane& lane = outcome.binding->lanes[at.lane.value];
    std::vector<RankId> ranks{lane.rank};
    const engine::FlatOp& op = graph.op_of(record);
    for (std::uint32_t p = 0; p < op.part_count; ++p) {
        const LaneId peer =
            lane.peers[graph.kind_of(at.lane).parts[op.part_first + p].peer.value].lane;
        ranks.push_back(outcome.binding->lanes[peer.value].rank);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

const Algorithm* algorithm_of(const Outcome& outcome, const TransferFacts& facts)
{
    std::vector<DeviceId> devices;
    for (const RankId rank : facts.ranks)
        devices.push_back(DeviceId{rank.value});
    return outcome.cost
        ->collective(facts.collective, facts.bytes, group_shape(*outcome.topology, devices),
                     outcome.job.strategy.backend)
        .algorithm;
}

TransferFacts transfer_facts(const Outcome& outcome, const RecordGraph& graph, RecordIndex index)
{
    const OpRecord& record = graph.records()[index];
    const Label& label = graph.program().labels[record.label.value];
    TransferFacts facts;
    facts.collective = label.collective;
    facts.group = label.group;
    if (record.kind == OpKind::collective) {
        facts.ranks = RankLayout(outcome.job)
                          .members(label.group, outcome.binding->lanes[record.lane.value].rank);
        facts.bytes = record.bytes;
        facts.algorithm = algorithm_of(outcome, facts);
    } else {
        facts.ranks = ranks_of_messages(outcome, graph, index);
        facts.bytes = bytes_of_parts(outcome, graph, index);
    }
    if (const SimTime moved = record.end - record.transfer_start; moved > SimTime(0)) {
        facts.algorithm_bandwidth = facts.bytes / to_seconds(moved);
        facts.bus_bandwidth = facts.algorithm_bandwidth *
                              bus_factor(facts.collective, static_cast<int>(facts.ranks.size()));
    }
    return facts;
}

} // namespace

OpFacts op_facts(const Outcome& outcome, const RecordGraph& graph, RecordIndex record)
{
    OpFacts facts;
    const OpKind kind = graph.records()[record].kind;
    const engine::FlatOp& op = graph.op_of(record);
    facts.kernels = op.kernels;
    if (kind == OpKind::compute && op.cost.value < outcome.plan->compute.size())
        facts.flops = hardware_flops(outcome.plan->compute[op.cost.value].kernels);
    if (kind == OpKind::collective || kind == OpKind::exchange)
        facts.transfer = transfer_facts(outcome, graph, record);
    return facts;
}

} // namespace trainyard
