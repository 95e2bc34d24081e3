#include "sim/engine/replay/code_generator.h"

#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine::replay {

CodeGenerator::CodeGenerator(const CodeRequest& request, Tables& tables)
    : program_(request.program),
      classes_(request.order.lane_classes),
      precedence_(request.order.precedence),
      eager_(request.order.eager),
      slows_(request.order.slows),
      tables_(tables),
      by_lane_(request.charging == Charging::by_lane)
{
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c)
        add_inputs(c);
    for (const GroupClass& group_class : classes_.group_classes)
        member_ops_.emplace_back(std::size_t{group_class.per_step} * group_class.classes.size(),
                                 none);
    charge_generator_.emplace(program_, request.order, request.stages, result_);
}

std::optional<GeneratedCode> CodeGenerator::generate(const std::vector<Action>& actions) &&
{
    code().instrs.reserve(2 * actions.size()); // about as many as there are, which spares copies
    code().reads.reserve(3 * actions.size());
    code().values.reserve(2 * actions.size());
    code().charges.reserve(actions.size());
    for (const Action& action : actions)
        if (!write(action))
            return std::nullopt;
    add_previous_overlaps();
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c)
        add_carries(c);
    note_last_uses();
    if (!by_lane_)
        result_.charge_plans = std::move(*charge_generator_).finish();
    else
        for (const LaneClass& lane_class : classes_.all)
            result_.charge_plans.emplace_back().tail.resize(lane_class.kind->streams.size());
    return std::move(result_);
}

void CodeGenerator::add_inputs(std::uint32_t c)
{
    Inputs in;
    in.lane_start = value(c);
    in.opened = value(c);
    in.base = value(c);
    for (std::size_t s = 0; s < kind(c).streams.size(); ++s)
        in.stream_ends.push_back(value(c));
    for (const StepWait& wait : kind(c).waits)
        if (wait.previous_step) {
            Value& end = in.ends[kind(c).streams[wait.stream].op_first + wait.position];
            end = value(c);
        }
    code().inputs.push_back(std::move(in));
    code().ops.emplace_back(kind(c).ops.size());
    code().parts.emplace_back(kind(c).parts.size());
    result_.transfer_classes.emplace_back().index.assign(transfer_class_count(), none);
    result_.times.emplace_back(kind(c).ops.size());
    find_slowing(c);
}

void CodeGenerator::find_slowing(std::uint32_t c)
{
    auto& of_class = slowing_.emplace_back();
    for (std::uint32_t s = 0; s < kind(c).streams.size() && !slows_[c].empty(); ++s) {
        const StreamPlan& stream = kind(c).streams[s];
        if (stream.kind != StreamKind::communication)
            continue;
        SlowingStream slowing;
        slowing.stream = s;
        for (std::uint32_t p = 0; p < stream.op_count; ++p) {
            slowing.count_before.push_back(static_cast<std::uint32_t>(slowing.ops.size()));
            if (slows_[c][stream.op_first + p] != 0)
                slowing.ops.push_back(stream.op_first + p);
        }
        if (slowing.ops.empty())
            continue;
        slowing.count_before.push_back(static_cast<std::uint32_t>(slowing.ops.size()));
        slowing.list = static_cast<std::uint32_t>(code().overlaps.size());
        code().overlaps.emplace_back().reserve(slowing.ops.size());
        of_class.push_back(std::move(slowing));
    }
}

Value CodeGenerator::value(std::uint32_t lane_class)
{
    code().values.push_back({lane_class});
    return static_cast<Value>(code().values.size() - 1);
}

void CodeGenerator::begin(Instr::Opcode opcode, std::uint32_t lane_class)
{
    Instr& instr = code().instrs.emplace_back();
    instr.opcode = opcode;
    instr.lane_class = lane_class;
    instr.read_first = static_cast<std::uint32_t>(code().reads.size());
    instr.write_first = static_cast<Value>(code().values.size());
}

void CodeGenerator::read(Value value)
{
    code().reads.push_back(value);
    ++last().read_count;
    use(value);
}

void CodeGenerator::use(Value value)
{
    code().values[value].last_use = static_cast<std::uint32_t>(code().instrs.size() - 1);
}

Value CodeGenerator::write_to(std::uint32_t lane_class)
{
    const Value written = value(lane_class);
    ++last().write_count;
    use(written);
    return written;
}

bool CodeGenerator::write(const Action& action)
{
    switch (action.kind) {
    case Action::Kind::run:
        run(action.where, action.what);
        return true;
    case Action::Kind::arrive:
        arrive(action.where, action.what);
        return true;
    case Action::Kind::collective:
        return collective(action.where, action.what);
    case Action::Kind::eager_send:
        return message(Instr::Opcode::eager_send, action.where, action.what);
    case Action::Kind::message:
        return message(Instr::Opcode::message, action.where, action.what);
    case Action::Kind::complete:
        complete(action.where, action.what);
        return true;
    }
    return false;
}

// When the host began the segment that the op is in.
Value CodeGenerator::base_of(std::uint32_t c, const FlatOp& op)
{
    const Inputs& in = code().inputs[c];
    if (op.by_itself)
        return in.lane_start;
    return op.segment == 0 ? in.base : code().ops[c][precedence_[c].barriers()[op.segment - 1]].end;
}

// Lets the instruction read what an op waits for before it starts: its stream is free, its waits
// are over, and the host has issued it.
void CodeGenerator::wait(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    last().base = base_of(c, op);
    use(last().base);
    if (!op.by_itself)
        last().constant = op.issue_offset.value();
    needed_.clear();
    if (precedence_[c].position_of(o) > 0)
        needed_.push_back(o - 1);
    else
        read(code().inputs[c].stream_ends[precedence_[c].stream_of(o)]);
    for (std::size_t w = 0; w < op.wait_count; ++w) {
        const StepWait& wait = kind(c).waits[op.wait_first + w];
        const std::uint32_t on = kind(c).streams[wait.stream].op_first + wait.position;
        if (wait.previous_step)
            read(code().inputs[c].ends.at(on));
        else
            needed_.push_back(on);
    }
    read_needed(c);
}

// Reads the ends of the needed ops, but for those that are over whenever another one is.
void CodeGenerator::read_needed(std::uint32_t c)
{
    for (std::size_t i = 0; i < needed_.size(); ++i) {
        bool implied = false;
        for (std::size_t j = 0; j < needed_.size() && !implied; ++j)
            implied = (needed_[j] != needed_[i] &&
                       precedence_[c].over(precedence_[c].at_start(needed_[j]), needed_[i])) ||
                      (j < i && needed_[j] == needed_[i]);
        if (!implied)
            read(code().ops[c][needed_[i]].end);
    }
}

// Whether the code charges the time of the op's lane, and the op is on its compute stream.
bool CodeGenerator::charged(std::uint32_t c, std::uint32_t o) const
{
    return !by_lane_ && charge_generator_->vectorized(c) &&
           kind(c).streams[precedence_[c].stream_of(o)].kind == StreamKind::compute;
}

void CodeGenerator::run(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    const TimeTable* times = tables_.times(c, op);
    const bool slowed = op.kind == OpKind::compute && !slows_[c].empty();
    begin(slowed ? Instr::Opcode::compute : Instr::Opcode::run, c);
    wait(c, o);
    if (slowed)
        add_overlap_set(c, o);
    last().table = times;
    last().varies = tables_.varies(c, op);
    if (op.kind == OpKind::compute && tables_.jitters(c)) {
        last().varies = true;
        last().drawn = true;
        last().extra_count = tables_.draw_times(c, op, charged(c, o));
        last().table = tables_.drawn(last().extra_count);
    }
    last().counted = slowed && charged(c, o);
    result_.times[c][o] = last().drawn ? nullptr : times;
    if (op.kind != OpKind::host && !op.by_itself) {
        last().host_ends = true;
        last().end_constant = op.issue_offset.value();
        if (op.kernels > 0)
            last().end_constant += op.issue_rest.value();
    }
    OpValues& values = code().ops[c][o];
    values.start = write_to(c);
    if (slowed)
        values.device = write_to(c);
    values.end = write_to(c);
    if (slowed && (by_lane_ || !charge_generator_->vectorized(c)))
        values.left = write_to(c);
    if (!charged(c, o))
        return;
    charge_generator_->charge_gap(c, o);
    if (op.kind != OpKind::compute)
        charge_generator_->charge_op(c, o);
}

void CodeGenerator::add_carries(std::uint32_t c)
{
    const Inputs& in = code().inputs[c];
    const LaneKind& of = kind(c);
    for (std::size_t s = 0; s < of.streams.size(); ++s)
        code().carries.push_back(
            {code().ops[c][of.streams[s].op_first + of.streams[s].op_count - 1].end,
             in.stream_ends[s]});
    for (const auto& [op, to] : in.ends)
        code().carries.push_back({code().ops[c][op].end, to});
    const auto& barriers = precedence_[c].barriers();
    code().carries.push_back({barriers.empty() ? in.base : code().ops[c][barriers.back()].end,
                              in.base, of.host.after_last.value()});
    Value end = in.lane_start;
    if (of.op_count > 0) {
        begin(Instr::Opcode::latest, c);
        for (const StreamPlan& stream : of.streams)
            read(code().ops[c][stream.op_first + stream.op_count - 1].end);
        end = write_to(c);
    }
    code().lane_ends.push_back(end);
    code().carries.push_back({end, in.opened});
}

// Inputs and carried values stay until the step is over, when the inputs are written.
void CodeGenerator::note_last_uses()
{
    for_each_last_use(code(), [&](std::uint32_t list, std::uint32_t overlap, std::uint32_t i) {
        for_each_value(code(), code().overlaps[list][overlap], [&](Value value) {
            std::uint32_t& last_use = code().values[value].last_use;
            last_use = std::max(last_use, i);
        });
    });
    for (const Inputs& in : code().inputs)
        for_each_value(in, [&](Value value) { keep(code(), value); });
    for (const Carry& carry : code().carries)
        keep(code(), carry.from);
}

std::optional<GeneratedCode> generate_code(const CodeRequest& request,
                                           const std::vector<Action>& actions, Tables& tables)
{
    return CodeGenerator(request, tables).generate(actions);
}

} // namespace trainyard::engine::replay
