#include "sim/report/timeline/kineto_arguments.h"

#include "sim/report/timeline/kineto_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace trainyard {

OpArguments::OpArguments(const Outcome& outcome, const RecordGraph& graph)
    : outcome_(&outcome), graph_(&graph), layout_(outcome.job)
{}

const Lane& OpArguments::lane_of(const OpRecord& record) const
{
    return outcome_->binding->lanes[record.lane.value];
}

std::string OpArguments::of(std::size_t index) const
{
    const OpRecord& record = outcome_->result->records[index];
    const Label& label = outcome_->plan->program.labels[record.label.value];
    const auto per_node = static_cast<std::uint32_t>(std::max(outcome_->job.gpus_per_node, 1));
    std::string args =
        fmt::format("\"stream\": {}, \"device\": {}, \"correlation\": {}", record.stream.value,
                    lane_of(record).rank.value % per_node, index + 1);
    add_place(args, record, label);
    if (record.kind == OpKind::collective || record.kind == OpKind::exchange)
        add_transfer(args, index, label);
    if (record.kind == OpKind::compute)
        add_flops(args, index);
    return args;
}

void OpArguments::add_place(std::string& args, const OpRecord& record, const Label& label) const
{
    fmt::format_to(std::back_inserter(args), ", \"phase\": {}, \"step\": {}",
                   json_text(to_name(label.phase)), record.step);
    if (record.micro_batch != BlockUse::no_index)
        fmt::format_to(std::back_inserter(args), ", \"micro_batch\": {}", record.micro_batch);
    if (record.layer != BlockUse::no_index)
        fmt::format_to(std::back_inserter(args), ", \"layer\": {}", record.layer);
}

void OpArguments::add_transfer(std::string& args, std::size_t index, const Label& label) const
{
    const OpRecord& record = outcome_->result->records[index];
    const std::vector<RankId> members = layout_.members(label.group, lane_of(record).rank);
    const std::string_view dtype = kineto_dtype(outcome_->job, label.collective, label.group);
    const MessageElements elements = elements_of(index, label, static_cast<int>(members.size()));
    fmt::format_to(
        std::back_inserter(args),
        ", \"Collective name\": {}, \"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group "
        "size\": {}, \"dtype\": {}, \"In split size\": \"[]\", \"Out split size\": \"[]\", "
        "\"Process Group Name\": {}, \"Process Group Description\": {}, \"Process Group "
        "Ranks\": {}, \"Rank\": {}",
        json_text(collective_name(index, label)), elements.in, elements.out, members.size(),
        json_text(dtype), json_text(kineto_group_name(label.group, members)),
        json_text(to_name(label.group)), json_text(kineto_rank_list(members)),
        lane_of(record).rank.value);
    if (record.transfer_start > record.start)
        fmt::format_to(std::back_inserter(args), ", \"transfer_start_us\": {}",
                       microseconds(record.transfer_start));
    add_peers(args, index);
    if (record.last_arriver.valid())
        fmt::format_to(std::back_inserter(args), ", \"last_arriver\": {}",
                       outcome_->binding->lanes[record.last_arriver.value].rank.value);
}

// Of an exchange: what it sends and what it receives; both the same where it only does one, as
// PyTorch has it.
MessageElements OpArguments::elements_of(std::size_t index, const Label& label, int ranks) const
{
    const OpRecord& record = outcome_->result->records[index];
    const int element = bytes_of_dtype(kineto_dtype(outcome_->job, label.collective, label.group));
    if (record.kind != OpKind::exchange)
        return message_elements(label.collective, record.bytes, ranks, element);
    Bytes sent;
    Bytes received;
    for (const engine::PartPlan& part : parts_of(index))
        (part.direction == Direction::send ? sent : received) +=
            outcome_->plan->transfers[part.cost.value].bytes;
    const auto elements = [&](Bytes bytes, Bytes otherwise) {
        const Bytes counted = bytes.value() > 0 ? bytes : otherwise;
        return counted.value() / static_cast<std::uint64_t>(element);
    };
    return {elements(sent, received), elements(received, sent)};
}

std::span<const engine::PartPlan> OpArguments::parts_of(std::size_t index) const
{
    const auto record = static_cast<RecordIndex>(index);
    const engine::FlatOp& op = graph_->op_of(record);
    return std::span(graph_->kind_of(graph_->records()[record].lane).parts)
        .subspan(op.part_first, op.part_count);
}

// The one part of a send or receive that is not batched with others.
const engine::PartPlan* OpArguments::single_part(std::size_t index) const
{
    const auto parts = parts_of(index);
    return parts.size() == 1 ? parts.data() : nullptr;
}

std::string_view OpArguments::collective_name(std::size_t index, const Label& label) const
{
    const engine::PartPlan* part = single_part(index);
    if (part == nullptr)
        return kineto_collective_name(label.collective);
    return part->direction == Direction::send ? "send" : "recv";
}

void OpArguments::add_peers(std::string& args, std::size_t index) const
{
    const engine::PartPlan* part = single_part(index);
    if (part == nullptr)
        return;
    const Lane& lane = lane_of(outcome_->result->records[index]);
    const LaneId peer = lane.peers[part->peer.value].lane;
    if (peer.valid())
        fmt::format_to(std::back_inserter(args), ", \"{}\": {}",
                       part->direction == Direction::send ? "Dst Rank" : "Src Rank",
                       outcome_->binding->lanes[peer.value].rank.value);
}

void OpArguments::add_flops(std::string& args, std::size_t index) const
{
    const engine::FlatOp& op = graph_->op_of(static_cast<RecordIndex>(index));
    if (!op.cost.valid() || op.cost.value >= outcome_->plan->compute.size())
        return;
    const Flops flops = hardware_flops(outcome_->plan->compute[op.cost.value].kernels);
    if (flops.value() > 0)
        fmt::format_to(std::back_inserter(args), ", \"flops\": {:.0f}", flops.value());
}

} // namespace trainyard
