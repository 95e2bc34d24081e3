#include "sim/study/recorded/record_graph.h"

#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard {

using engine::FlatOp;
using engine::LaneKind;
using engine::PartPlan;
using engine::StepWait;
using engine::StreamPlan;

RecordGraph::RecordGraph(const Program& program, const Binding& binding,
                         const std::vector<OpRecord>& records)
    : program_(program),
      binding_(binding),
      records_(records),
      compiled_(engine::compile(program, binding)),
      queues_(queues_of(records)),
      kinds_(compiled_.kinds.size())
{
    for (const RecordQueue& queue : queues_.queues)
        steps_ = std::max(steps_, std::size_t{queue.step} + 1);
    lane_steps_.assign(binding.lanes.size() * steps_, nothing);
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
        index_kind(kind);
    place();
    for (const Group& group : binding.groups)
        joins_stages_.push_back(engine::joins_stages(group, binding.lanes));
}

void RecordGraph::place()
{
    for (RecordIndex i = 0; i < records_.size(); ++i) {
        const OpRecord& record = records_[i];
        std::uint32_t& first = lane_steps_[record.lane.value * steps_ + record.step];
        if (first == nothing) {
            first = static_cast<std::uint32_t>(by_op_.size());
            by_op_.resize(by_op_.size() + kind_of(record.lane).op_count, no_record);
        }
        by_op_[first + flat_op(i)] = i;
    }
}

void RecordGraph::index_kind(std::size_t which)
{
    const LaneKind& kind = compiled_.kinds[which];
    KindIndex& index = kinds_[which];
    index.messages.resize(kind.parts_per_step.size());
    for (std::size_t pipe = 0; pipe < kind.parts_per_step.size(); ++pipe)
        index.messages[pipe].resize(kind.parts_per_step[pipe], nothing);
    const auto lane = std::find(compiled_.lane_kinds.begin(), compiled_.lane_kinds.end(), which);
    const auto& groups =
        binding_.lanes[static_cast<std::size_t>(lane - compiled_.lane_kinds.begin())].groups;
    index.collectives.resize(kind.collectives_per_step.size());
    for (std::size_t slot = 0; slot < groups.size(); ++slot)
        index.collectives[slot].resize(kind.collectives_per_step[slot], nothing);
    index.barriers.resize(kind.host.barriers, nothing);
    index.issued.resize(kind.op_count);
    for (std::uint32_t i = 0; i < kind.op_count; ++i) {
        const FlatOp& op = kind.ops[i];
        index.issued[op.order] = i;
        if (op.ends_segment)
            index.barriers[op.segment] = i;
        if (op.kind == OpKind::collective) {
            const GroupId group = groups[op.group.value];
            for (std::size_t slot = 0; slot < groups.size(); ++slot)
                if (groups[slot] == group)
                    index.collectives[slot][op.ordinal] = i;
        }
        for (std::uint32_t p = 0; p < op.part_count; ++p) {
            const PartPlan& part = kind.parts[op.part_first + p];
            index.messages[part.pipe][part.ordinal] = i;
        }
    }
}

const LaneKind& RecordGraph::kind_of(LaneId lane) const
{
    return compiled_.kinds[compiled_.lane_kinds[lane.value]];
}

std::uint32_t RecordGraph::flat_op(RecordIndex record) const
{
    const OpRecord& at = records_[record];
    return kinds_[compiled_.lane_kinds[at.lane.value]].issued[at.op];
}

const FlatOp& RecordGraph::op_of(RecordIndex record) const
{
    return kind_of(records_[record].lane).ops[flat_op(record)];
}

RecordIndex RecordGraph::record_at(LaneId lane, std::size_t step, std::uint32_t op) const
{
    if (step >= steps_ || op == nothing)
        return no_record;
    const std::uint32_t first = lane_steps_[lane.value * steps_ + step];
    return first == nothing ? no_record : by_op_[first + op];
}

RecordIndex RecordGraph::before(RecordIndex record) const
{
    const std::uint32_t op = flat_op(record);
    const OpRecord& at = records_[record];
    for (const StreamPlan& stream : kind_of(at.lane).streams)
        if (stream.id == at.stream) {
            if (op > stream.op_first)
                return record_at(at.lane, at.step, op - 1);
            return at.step == 0
                       ? no_record
                       : record_at(at.lane, at.step - 1U, stream.op_first + stream.op_count - 1);
        }
    return no_record;
}

RecordIndex RecordGraph::waited_for(LaneId lane, std::uint16_t step, const StepWait& wait) const
{
    if (wait.previous_step && step == 0)
        return no_record;
    return record_at(lane, wait.previous_step ? step - 1U : step,
                     kind_of(lane).streams[wait.stream].op_first + wait.position);
}

RecordIndex RecordGraph::barrier_before(RecordIndex record) const
{
    const FlatOp& op = op_of(record);
    const OpRecord& at = records_[record];
    const LaneKind& kind = kind_of(at.lane);
    if (op.by_itself || kind.host.barriers == 0 || (op.segment == 0 && at.step == 0))
        return no_record;
    const std::size_t step = op.segment == 0 ? at.step - 1U : at.step;
    const std::uint32_t segment = op.segment == 0 ? kind.host.barriers - 1 : op.segment - 1;
    return record_at(at.lane, step, kinds_[compiled_.lane_kinds[at.lane.value]].barriers[segment]);
}

StartReason RecordGraph::why_started(RecordIndex record) const
{
    const FlatOp& op = op_of(record);
    const OpRecord& at = records_[record];
    StartReason reason{StartCause::stream, before(record)};
    for (std::uint32_t i = 0; i < op.wait_count; ++i) {
        const RecordIndex other =
            waited_for(at.lane, at.step, kind_of(at.lane).waits[op.wait_first + i]);
        if (other != no_record &&
            (reason.record == no_record || records_[other].end > records_[reason.record].end))
            reason = {StartCause::event, other};
    }
    if (reason.record != no_record && records_[reason.record].end == at.start)
        return reason;
    const RecordIndex barrier = barrier_before(record);
    if (op.by_itself)
        return {};
    return {StartCause::host, barrier};
}

RecordIndex RecordGraph::last_to_come(RecordIndex record) const
{
    const OpRecord& at = records_[record];
    if (at.kind == OpKind::collective)
        return at.transfer_start > at.start && at.last_arriver.valid()
                   ? peer_on(at.last_arriver, record)
                   : no_record;
    RecordIndex last = no_record;
    for (const Partner& partner : partners(record)) {
        const SimTime start = records_[partner.record].start;
        if (start > at.start && (last == no_record || start > records_[last].start))
            last = partner.record;
    }
    return last;
}

std::vector<RecordIndex> RecordGraph::started_by(RecordIndex record) const
{
    std::vector<RecordIndex> started;
    const OpRecord& at = records_[record];
    for (std::size_t step = at.step; step < std::min(steps_, at.step + std::size_t{2}); ++step)
        for (std::uint32_t i = 0; i < kind_of(at.lane).op_count; ++i) {
            const RecordIndex other = record_at(at.lane, step, i);
            if (other != no_record && records_[other].start >= at.end &&
                why_started(other).record == record)
                started.push_back(other);
        }
    std::sort(started.begin(), started.end(), [&](RecordIndex a, RecordIndex b) {
        return std::pair(records_[a].start, a) < std::pair(records_[b].start, b);
    });
    return started;
}

RecordIndex RecordGraph::peer_on(LaneId lane, RecordIndex record) const
{
    const OpRecord& at = records_[record];
    if (at.kind != OpKind::collective)
        return no_record;
    const auto& groups = binding_.lanes[lane.value].groups;
    const auto slot = std::find(groups.begin(), groups.end(), at.group);
    if (slot == groups.end())
        return no_record;
    const Ops& ops = kinds_[compiled_.lane_kinds[lane.value]]
                         .collectives[static_cast<std::size_t>(slot - groups.begin())];
    const std::uint32_t ordinal = op_of(record).ordinal;
    return ordinal < ops.size() ? record_at(lane, at.step, ops[ordinal]) : no_record;
}

std::vector<RecordIndex> RecordGraph::peers(RecordIndex record) const
{
    std::vector<RecordIndex> found;
    if (const OpRecord& at = records_[record]; at.kind == OpKind::collective && at.group.valid())
        for (const LaneId lane : binding_.groups[at.group.value].members)
            if (const RecordIndex peer = peer_on(lane, record); peer != no_record && peer != record)
                found.push_back(peer);
    return found;
}

// The part of the neighbour's op with the same place in the same pipe.
RecordIndex RecordGraph::other_end(RecordIndex record, const PartPlan& part) const
{
    const OpRecord& at = records_[record];
    const LaneId lane = binding_.lanes[at.lane.value].peers[part.peer.value].lane;
    const auto pipes_of = [&](LaneId of) {
        return std::span(compiled_.lane_pipes).subspan(compiled_.lane_pipe_first[of.value]);
    };
    const std::uint32_t pipe = pipes_of(at.lane)[part.pipe];
    const auto& messages = kinds_[compiled_.lane_kinds[lane.value]].messages;
    for (std::size_t own = 0; own < messages.size(); ++own)
        if (pipes_of(lane)[own] == pipe)
            return part.ordinal < messages[own].size()
                       ? record_at(lane, at.step, messages[own][part.ordinal])
                       : no_record;
    return no_record;
}

std::vector<RecordGraph::Partner> RecordGraph::partners(RecordIndex record) const
{
    std::vector<Partner> found;
    const FlatOp& op = op_of(record);
    const LaneKind& kind = kind_of(records_[record].lane);
    for (std::uint32_t p = 0; p < op.part_count; ++p) {
        const PartPlan& part = kind.parts[op.part_first + p];
        if (const RecordIndex other = other_end(record, part); other != no_record)
            found.push_back({other, part.direction});
    }
    return found;
}

std::vector<RecordGraph::Message> RecordGraph::messages() const
{
    std::vector<Message> found;
    for (RecordIndex i = 0; i < records_.size(); ++i)
        for (const Partner& partner : partners(i))
            if (partner.direction == Direction::send)
                found.push_back({i, partner.record});
    return found;
}

// Adds what the op did until `time`; the op that the path goes on with, and when.
RecordIndex RecordGraph::walk_back(RecordIndex record, SimTime& time,
                                   std::vector<PathPiece>& path) const
{
    const OpRecord& at = records_[record];
    const auto add = [&](SimTime from, PathPart part) {
        if (from < time)
            path.push_back({record, from, time, part});
        time = std::min(time, from);
    };
    if (const RecordIndex last = last_to_come(record); last != no_record) {
        const SimTime came = std::min(at.end, records_[last].start);
        if (came < time) {
            add(came, PathPart::runs);
            return last;
        }
    }
    if (at.transfer_start > at.start && at.transfer_start < time) {
        add(at.transfer_start, PathPart::runs);
        add(at.start, PathPart::waits);
    }
    add(at.start, PathPart::runs);
    const StartReason reason = why_started(record);
    if (reason.record == no_record)
        return no_record;
    add(std::min(time, records_[reason.record].end), PathPart::host);
    return reason.record;
}

std::vector<PathPiece> RecordGraph::critical_path() const
{
    std::vector<PathPiece> path;
    if (records_.empty())
        return path;
    const auto last =
        std::max_element(records_.begin(), records_.end(),
                         [](const OpRecord& a, const OpRecord& b) { return a.end < b.end; });
    auto record = static_cast<RecordIndex>(last - records_.begin());
    SimTime time = last->end;
    for (std::size_t left = records_.size(); record != no_record && left > 0; --left)
        record = walk_back(record, time, path);
    std::reverse(path.begin(), path.end());
    return path;
}

} // namespace trainyard
