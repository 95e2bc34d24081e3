#include "sim/engine/replay/composer.h"
#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine::replay {

Composer::Composer(const ComposeRequest& request, Tables& tables)
    : program_(request.program),
      cohorts_(request.order.cohorts),
      known_(request.order.known),
      eager_(request.order.eager),
      slows_(request.order.slows),
      tables_(tables),
      by_lane_(request.charging == Charging::by_lane)
{
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
        bring_in(c);
    for (const Meeting& meeting : cohorts_.meetings)
        gathered_.emplace_back(std::size_t{meeting.per_step} * meeting.seats.size(), none);
    charger_.emplace(program_, request.order, request.stages, result_);
}

std::optional<Composed> Composer::compose(const std::vector<Act>& acts) &&
{
    tape().instrs.reserve(2 * acts.size()); // about as many as there are, which spares copies
    tape().reads.reserve(3 * acts.size());
    tape().values.reserve(2 * acts.size());
    tape().charges.reserve(acts.size());
    for (const Act& act : acts)
        if (!write(act))
            return std::nullopt;
    load_from_before();
    for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
        carry_out(c);
    note_last_uses();
    if (!by_lane_)
        result_.charges = std::move(*charger_).finish();
    else
        for (const Cohort& cohort : cohorts_.all)
            result_.charges.emplace_back().tail.resize(cohort.kind->streams.size());
    return std::move(result_);
}

void Composer::bring_in(std::uint32_t c)
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
    tape().inputs.push_back(std::move(in));
    tape().ops.emplace_back(kind(c).ops.size());
    tape().parts.emplace_back(kind(c).parts.size());
    result_.totals.emplace_back().index.assign(transfer_class_count(), none);
    result_.times.emplace_back(kind(c).ops.size());
    find_slowing(c);
}

void Composer::find_slowing(std::uint32_t c)
{
    auto& of_cohort = slowing_.emplace_back();
    for (std::uint32_t s = 0; s < kind(c).streams.size() && !slows_[c].empty(); ++s) {
        const StreamPlan& stream = kind(c).streams[s];
        if (stream.kind != StreamKind::communication)
            continue;
        SlowingStream slowing;
        slowing.stream = s;
        for (std::uint32_t p = 0; p < stream.op_count; ++p) {
            slowing.before.push_back(static_cast<std::uint32_t>(slowing.ops.size()));
            if (slows_[c][stream.op_first + p] != 0)
                slowing.ops.push_back(stream.op_first + p);
        }
        if (slowing.ops.empty())
            continue;
        slowing.before.push_back(static_cast<std::uint32_t>(slowing.ops.size()));
        slowing.list = static_cast<std::uint32_t>(tape().rivals.size());
        tape().rivals.emplace_back().reserve(slowing.ops.size());
        of_cohort.push_back(std::move(slowing));
    }
}

Value Composer::value(std::uint32_t cohort)
{
    tape().values.push_back({cohort});
    return static_cast<Value>(tape().values.size() - 1);
}

void Composer::begin(Instr::Code code, std::uint32_t cohort)
{
    Instr& instr = tape().instrs.emplace_back();
    instr.code = code;
    instr.cohort = cohort;
    instr.read_first = static_cast<std::uint32_t>(tape().reads.size());
    instr.write_first = static_cast<Value>(tape().values.size());
}

void Composer::read(Value value)
{
    tape().reads.push_back(value);
    ++last().read_count;
    use(value);
}

void Composer::use(Value value)
{
    tape().values[value].last_use = static_cast<std::uint32_t>(tape().instrs.size() - 1);
}

Value Composer::write_to(std::uint32_t cohort)
{
    const Value written = value(cohort);
    ++last().write_count;
    use(written);
    return written;
}

bool Composer::write(const Act& act)
{
    switch (act.kind) {
    case Act::Kind::run:
        run(act.where, act.what);
        return true;
    case Act::Kind::arrive:
        arrive(act.where, act.what);
        return true;
    case Act::Kind::gather:
        return gather(act.where, act.what);
    case Act::Kind::send:
        return message(Instr::Code::send, act.where, act.what);
    case Act::Kind::pass:
        return message(Instr::Code::pass, act.where, act.what);
    case Act::Kind::complete:
        complete(act.where, act.what);
        return true;
    }
    return false;
}

// When the host began the segment that the op is in.
Value Composer::base_of(std::uint32_t c, const FlatOp& op)
{
    const Inputs& in = tape().inputs[c];
    if (op.by_itself)
        return in.lane_start;
    return op.segment == 0 ? in.base : tape().ops[c][known_[c].barriers()[op.segment - 1]].end;
}

// What an op waits for before it starts: the stream is free, the waits are over, the host has
// issued it.
void Composer::wait(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    last().base = base_of(c, op);
    use(last().base);
    if (!op.by_itself)
        last().constant = op.issue_offset.value();
    needed_.clear();
    if (known_[c].position_of(o) > 0)
        needed_.push_back(o - 1);
    else
        read(tape().inputs[c].stream_ends[known_[c].stream_of(o)]);
    for (std::size_t w = 0; w < op.wait_count; ++w) {
        const StepWait& wait = kind(c).waits[op.wait_first + w];
        const std::uint32_t on = kind(c).streams[wait.stream].op_first + wait.position;
        if (wait.previous_step)
            read(tape().inputs[c].ends.at(on));
        else
            needed_.push_back(on);
    }
    read_needed(c);
}

// Leaves out what is over whenever another is.
void Composer::read_needed(std::uint32_t c)
{
    for (std::size_t i = 0; i < needed_.size(); ++i) {
        bool implied = false;
        for (std::size_t j = 0; j < needed_.size() && !implied; ++j)
            implied = (needed_[j] != needed_[i] &&
                       known_[c].over(known_[c].at_start(needed_[j]), needed_[i])) ||
                      (j < i && needed_[j] == needed_[i]);
        if (!implied)
            read(tape().ops[c][needed_[i]].end);
    }
}

// Whether the tape charges the time of the op's lane, and the op is on its compute stream.
bool Composer::charged(std::uint32_t c, std::uint32_t o) const
{
    return !by_lane_ && charger_->on_tape(c) &&
           kind(c).streams[known_[c].stream_of(o)].kind == StreamKind::compute;
}

void Composer::run(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    const TimeTable* times = tables_.times(c, op);
    const bool slowed = op.kind == OpKind::compute && !slows_[c].empty();
    begin(slowed ? Instr::Code::compute : Instr::Code::run, c);
    wait(c, o);
    if (slowed)
        load(c, o);
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
    OpValues& values = tape().ops[c][o];
    values.start = write_to(c);
    if (slowed)
        values.device = write_to(c);
    values.end = write_to(c);
    if (slowed && (by_lane_ || !charger_->on_tape(c)))
        values.left = write_to(c);
    if (!charged(c, o))
        return;
    charger_->charge_gap(c, o);
    if (op.kind != OpKind::compute)
        charger_->charge_own(c, o);
}

void Composer::carry_out(std::uint32_t c)
{
    const Inputs& in = tape().inputs[c];
    const LaneKind& of = kind(c);
    for (std::size_t s = 0; s < of.streams.size(); ++s)
        tape().carries.push_back(
            {tape().ops[c][of.streams[s].op_first + of.streams[s].op_count - 1].end,
             in.stream_ends[s]});
    for (const auto& [op, to] : in.ends)
        tape().carries.push_back({tape().ops[c][op].end, to});
    const auto& barriers = known_[c].barriers();
    tape().carries.push_back({barriers.empty() ? in.base : tape().ops[c][barriers.back()].end,
                              in.base, of.host.after_last.value()});
    Value end = in.lane_start;
    if (of.op_count > 0) {
        begin(Instr::Code::latest, c);
        for (const StreamPlan& stream : of.streams)
            read(tape().ops[c][stream.op_first + stream.op_count - 1].end);
        end = write_to(c);
    }
    tape().lane_ends.push_back(end);
    tape().carries.push_back({end, in.opened});
}

// What comes in is written from outside at the end of the step.
void Composer::note_last_uses()
{
    for_each_last_use(tape(), [&](std::uint32_t list, std::uint32_t rival, std::uint32_t i) {
        for_each_value(tape(), tape().rivals[list][rival], [&](Value value) {
            std::uint32_t& last_use = tape().values[value].last_use;
            last_use = std::max(last_use, i);
        });
    });
    for (const Inputs& in : tape().inputs)
        for_each_value(in, [&](Value value) { keep(tape(), value); });
    for (const Carry& carry : tape().carries)
        keep(tape(), carry.from);
}

std::optional<Composed> compose(const ComposeRequest& request, const std::vector<Act>& acts,
                                Tables& tables)
{
    return Composer(request, tables).compose(acts);
}

} // namespace trainyard::engine::replay
