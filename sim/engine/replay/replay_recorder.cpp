#include "sim/engine/replay/replay_recorder.h"

#include <algorithm>
#include <tuple>

namespace trainyard::engine::replay {

namespace {

std::vector<std::vector<std::uint32_t>> lanes_wanted(const LaneClasses& lane_classes,
                                                     const RecordRequest& request)
{
    std::vector<std::vector<std::uint32_t>> wanted(lane_classes.all.size());
    for (std::uint32_t c = 0; c < lane_classes.all.size() && request.lane; ++c)
        for (std::uint32_t i = 0; i < lane_classes.all[c].lanes.size(); ++i)
            if (request.lane(LaneId{lane_classes.all[c].lanes[i]}))
                wanted[c].push_back(i);
    return wanted;
}

} // namespace

void Capture::want(std::uint32_t lane_class, Value value)
{
    if (value == none)
        return;
    for (std::uint32_t k = first_[value]; k != none; k = kept_[k].next)
        if (kept_[k].lane_class == lane_class)
            return;
    kept_.push_back({lane_class, first_[value], size_});
    first_[value] = static_cast<std::uint32_t>(kept_.size() - 1);
    size_ += lanes_[lane_class].size();
}

void Capture::want_ops(std::uint32_t lane_class)
{
    const Inputs& in = code_.inputs[lane_class];
    for (const Value value : {in.lane_start, in.opened, in.base})
        want(lane_class, value);
    for (std::uint32_t o = 0; o < code_.ops[lane_class].size(); ++o)
        for_each_value(code_, *classes_.all[lane_class].kind, lane_class, o,
                       [&](Value value) { want(lane_class, value); });
}

void Capture::note_inputs(Interpreter& interpreter)
{
    times_.resize(size_);
    for (const Inputs& in : code_.inputs)
        for (const Value value : {in.lane_start, in.opened, in.base})
            copy(interpreter, value);
}

void Capture::note(Interpreter& interpreter, const Instr& instr)
{
    for (std::uint32_t w = 0; w < instr.write_count; ++w)
        copy(interpreter, instr.write_first + w);
}

void Capture::copy(Interpreter& interpreter, Value value)
{
    for (std::uint32_t k = first_[value]; k != none; k = kept_[k].next) {
        const Time* column = interpreter.column(value);
        Time* to = times_.data() + kept_[k].place;
        for (const std::uint32_t index : lanes_[kept_[k].lane_class])
            *to++ = column[index];
    }
}

Time Capture::at(std::uint32_t lane_class, Value value, std::size_t i) const
{
    if (value == none)
        return 0;
    for (std::uint32_t k = first_[value]; k != none; k = kept_[k].next)
        if (kept_[k].lane_class == lane_class)
            return times_[kept_[k].place + i];
    return 0;
}

ReplayRecorder::ReplayRecorder(const Program& program, const Binding& binding,
                               const LaneClasses& lane_classes,
                               const std::vector<Precedence>& precedence, const StepCode& code,
                               const RecordRequest& request)
    : program_(program),
      binding_(binding),
      classes_(lane_classes),
      precedence_(precedence),
      code_(code),
      capture_(lane_classes, code, lanes_wanted(lane_classes, request)),
      first_step_(request.first_step)
{
    for (std::uint32_t c = 0; c < lane_classes.all.size(); ++c) {
        if (capture_.lanes(c).empty())
            continue;
        any_ = true;
        capture_.want_ops(c);
    }
}

void ReplayRecorder::note(Interpreter& interpreter, const Instr& instr)
{
    capture_.note(interpreter, instr);
    if (instr.opcode == Instr::Opcode::collective)
        note_last_arrivers(interpreter, instr);
}

// Notes which lane came last to the groups of the lanes kept; of several the lowest.
void ReplayRecorder::note_last_arrivers(Interpreter& interpreter, const Instr& instr)
{
    const GroupClass& group_class = classes_.group_classes[instr.group_or_pipe];
    const auto lane_of = [&](const Member& member) {
        return LaneId{
            classes_.all[group_class.classes[member.member_class].lane_class].lanes[member.index]};
    };
    const auto kept = [&](const Member& member) {
        const auto& lanes = capture_.lanes(group_class.classes[member.member_class].lane_class);
        return std::binary_search(lanes.begin(), lanes.end(), member.index);
    };
    for (std::size_t g = 0; g < group_class.groups.size(); ++g) {
        const std::span members(group_class.members.data() + group_class.first[g],
                                group_class.first[g + 1] - group_class.first[g]);
        if (std::none_of(members.begin(), members.end(), kept))
            continue;
        const auto begin_of = [&](const Member& member) {
            return instr.write_first + 2 * member.member_class;
        };
        LaneId last = LaneId::none();
        for (const Member& member : members)
            if (interpreter.column(
                    code_.reads[instr.read_first + member.member_class])[member.index] ==
                interpreter.column(begin_of(member))[member.index])
                last = std::min(last, lane_of(member));
        for (const Member& member : members)
            if (kept(member))
                last_arrivers_[{begin_of(member), member.index}] = last;
    }
}

void ReplayRecorder::end_step(int step)
{
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c)
        for (std::size_t kept = 0; kept < capture_.lanes(c).size(); ++kept)
            for (std::uint32_t o = 0; o < classes_.all[c].kind->ops.size(); ++o)
                write(c, kept, o, step);
}

void ReplayRecorder::write(std::uint32_t c, std::size_t kept, std::uint32_t o, int step)
{
    const LaneClass& lane_class = classes_.all[c];
    const FlatOp& op = lane_class.kind->ops[o];
    const OpValues& values = code_.ops[c][o];
    const std::uint32_t index = capture_.lanes(c)[kept];
    const std::uint32_t lane = lane_class.lanes[index];
    OpRecord record{.lane = LaneId{lane},
                    .stream = lane_class.kind->streams[precedence_[c].stream_of(o)].id,
                    .label = op.label,
                    .op = op.order,
                    .kind = op.kind,
                    .micro_batch = op.micro_batch,
                    .layer = op.layer,
                    .step = static_cast<std::uint16_t>(step),
                    .issued = SimTime(issued(c, kept, op)),
                    .start = SimTime(capture_.at(c, values.start, kept)),
                    .end = SimTime(capture_.at(c, values.end, kept)),
                    .bytes = bytes_of(lane, *lane_class.kind, op)};
    record.transfer_start =
        values.begin == none ? record.start : SimTime(capture_.at(c, values.begin, kept));
    if (op.kind == OpKind::collective) {
        record.group = binding_.lanes[lane].groups[op.group.value];
        record.last_arriver = last_arrivers_.at({values.begin, index});
    }
    records_.push_back(record);
}

Time ReplayRecorder::issued(std::uint32_t c, std::size_t kept, const FlatOp& op) const
{
    const Inputs& in = code_.inputs[c];
    if (op.by_itself)
        return capture_.at(c, in.lane_start, kept);
    const Value base =
        op.segment == 0 ? in.base : code_.ops[c][precedence_[c].barriers()[op.segment - 1]].end;
    return capture_.at(c, base, kept) + op.issue_offset.value();
}

Bytes ReplayRecorder::bytes_of(std::uint32_t lane, const LaneKind& kind, const FlatOp& op) const
{
    const Lane& here = binding_.lanes[lane];
    const auto& costs = binding_.costs.transfers;
    if (op.kind == OpKind::collective)
        return costs[binding_.groups[here.groups[op.group.value].value].variant][op.cost.value]
            .bytes;
    Bytes bytes{};
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        if (kind.parts[p].direction == Direction::send)
            bytes +=
                costs[here.peers[kind.parts[p].peer.value].variant][kind.parts[p].cost.value].bytes;
    return bytes;
}

std::vector<OpRecord> ReplayRecorder::take()
{
    std::stable_sort(records_.begin(), records_.end(), [](const OpRecord& a, const OpRecord& b) {
        return std::tie(a.end, a.lane, a.stream) < std::tie(b.end, b.lane, b.stream);
    });
    return std::move(records_);
}

} // namespace trainyard::engine::replay
