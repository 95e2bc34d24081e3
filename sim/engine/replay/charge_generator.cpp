#include "sim/engine/replay/charge_generator.h"

#include "sim/engine/replay/ledger.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// How many ops of each stream in front of the last compute may end behind it. The op before these
// is checked by a guard.
constexpr std::uint32_t tail_ops = 4;

// Whether an op needs no more than the op before it on its stream.
bool needs_no_more(const FlatOp& op, const FlatOp& before)
{
    return op.wait_count == 0 && (op.by_itself || op.segment == before.segment);
}

} // namespace

ChargeGenerator::ChargeGenerator(const Program& program, const OrderRequest& request,
                                 const JoinsStages& stages, GeneratedCode& generated)
    : program_(program),
      request_(request),
      stages_(stages),
      generated_(generated),
      code_(generated.code)
{
    for (std::uint32_t c = 0; c < request_.lane_classes.all.size(); ++c) {
        plans_.push_back(plan(c));
        collectives_.emplace_back(plans_[c].vectorized ? kind(c).op_count : 0, none);
    }
}

std::vector<ChargePlan> ChargeGenerator::finish() &&
{
    for (std::uint32_t c = 0; c < plans_.size(); ++c)
        if (plans_[c].vectorized) {
            add_work(c);
            guard_tail(c);
            plan_tail(c);
        }
    return std::move(plans_);
}

const StreamPlan& ChargeGenerator::compute_stream(std::uint32_t c) const
{
    return kind(c).streams[computing_stream(kind(c))];
}

ChargePlan ChargeGenerator::plan(std::uint32_t c) const
{
    ChargePlan plan;
    const LaneKind& of = kind(c);
    plan.tail.resize(of.streams.size());
    if (computing_stream(of) == no_stream)
        return plan;
    const StreamPlan& compute = compute_stream(c);
    plan.vectorized = true;
    plan.last_compute = compute.op_first + compute.op_count - 1;
    std::vector<std::uint32_t> over(of.streams.size());
    precedence(c).add_end_of(over, plan.last_compute);
    for (std::size_t s = 0; s < over.size(); ++s) {
        std::uint32_t first = over[s];
        while (first + tail_ops < of.streams[s].op_count &&
               of.ops[of.streams[s].op_first + first + tail_ops].order <
                   of.ops[plan.last_compute].order)
            ++first;
        plan.tail[s] = first;
    }
    return plan;
}

void ChargeGenerator::add_work(std::uint32_t c)
{
    const StreamPlan& compute = compute_stream(c);
    for (std::uint32_t o = compute.op_first; o < compute.op_first + compute.op_count; ++o)
        if (kind(c).ops[o].kind == OpKind::compute && generated_.times[c][o] != nullptr)
            ++plans_[c].computing[{phase_index(kind(c).ops[o].phase), generated_.times[c][o]}];
}

void ChargeGenerator::begin(Instr::Opcode opcode, std::uint32_t c)
{
    Instr& instr = code_.instrs.emplace_back();
    instr.opcode = opcode;
    instr.lane_class = c;
    instr.measured = true;
    instr.read_first = static_cast<std::uint32_t>(code_.reads.size());
    instr.extra = static_cast<std::uint32_t>(code_.charges.size());
}

void ChargeGenerator::read(Value value)
{
    code_.reads.push_back(value);
    ++code_.instrs.back().read_count;
}

void ChargeGenerator::note_uses()
{
    const auto at = static_cast<std::uint32_t>(code_.instrs.size() - 1);
    for (const Value value : reads_of(code_, code_.instrs.back()))
        code_.values[value].last_use = at;
    for (const Charge& charge : charges_of(code_, code_.instrs.back())) {
        code_.values[charge.value].last_use = at;
        if (charge.then != none)
            code_.values[charge.then].last_use = at;
    }
}

void ChargeGenerator::charge(const Charge& entry)
{
    until_ = none;
    code_.charges.push_back(entry);
    ++code_.instrs.back().extra_count;
}

// Time that no op takes is the host's. It is not charged, because the host gets what the others
// leave.
void ChargeGenerator::end_charge()
{
    Instr& instr = code_.instrs.back();
    while (instr.extra_count > 0 && code_.charges.back().into == none) {
        code_.charges.pop_back();
        --instr.extra_count;
    }
    if (instr.extra_count > 0)
        return note_uses();
    code_.reads.resize(instr.read_first);
    code_.instrs.pop_back();
}

void ChargeGenerator::note_collective(std::uint32_t c, std::uint32_t o)
{
    if (plans_[c].vectorized)
        collectives_[c][o] = static_cast<std::uint32_t>(code_.instrs.size() - 1);
}

void ChargeGenerator::charge_gap(std::uint32_t c, std::uint32_t o)
{
    const bool first = precedence(c).position_of(o) == 0;
    if (!first && needs_no_more(kind(c).ops[o], kind(c).ops[o - 1]))
        return;
    begin(Instr::Opcode::charge, c);
    read(first ? code_.inputs[c].opened : code_.ops[c][o - 1].end);
    over_.assign(kind(c).streams.size(), 0);
    if (!first)
        precedence(c).add_end_of(over_, o - 1);
    until_ = first ? none : o - 1;
    wait_for_needs(c, o);
    end_charge();
    if (!first)
        return;
    begin(Instr::Opcode::guard, c); // no op of the stream is cut by the step before
    read(code_.inputs[c].opened);
    read(code_.ops[c][o].start);
    note_uses();
}

void ChargeGenerator::charge_op(std::uint32_t c, std::uint32_t o)
{
    begin(Instr::Opcode::charge, c);
    read(code_.ops[c][o].start);
    add_op(c, o);
    end_charge();
}

// Charges the time to all that the op needs, as far as that is not over.
void ChargeGenerator::wait_for_needs(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    for (std::size_t w = 0; w < op.wait_count; ++w) {
        const StepWait& wait = kind(c).waits[op.wait_first + w];
        if (!wait.previous_step)
            wait_for(c, kind(c).streams[wait.stream].op_first + wait.position);
    }
    // The host stands at one barrier after the other.
    if (op.by_itself || op.segment == 0)
        return;
    std::uint32_t first = op.segment;
    while (first > 0 && !precedence(c).over(over_, precedence(c).barriers()[first - 1]))
        --first;
    for (; first < op.segment; ++first)
        wait_for(c, precedence(c).barriers()[first]);
}

// Charges the time to the ops of a stream up to this one.
void ChargeGenerator::wait_for(std::uint32_t c, std::uint32_t o)
{
    const std::uint8_t stream = precedence(c).stream_of(o);
    while (!precedence(c).over(over_, o)) {
        const std::uint32_t next = kind(c).streams[stream].op_first + over_[stream];
        wait_for_needs(c, next);
        if (!holds_up(c, next)) {
            charge({code_.ops[c][next].start, none});
            add_op(c, next);
        }
        precedence(c).add_end_of(over_, next);
    }
}

// Whether the gap waits for a collective from its arrival to its end. Then it is charged where it
// is executed.
bool ChargeGenerator::holds_up(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    if (until_ == none || collectives_[c][o] == none || stages_[c][op.group.value] != 0 ||
        !precedence(c).over(precedence(c).at_start(o), until_))
        return false;
    Instr& collective = code_.instrs[collectives_[c][o]];
    collective.holds_up = true;
    count_one(generated_.transfer_classes[c].exposed, {.transfer_class = collective.extra,
                                                       .by = MovingTime::By::group,
                                                       .where = collective.group_or_pipe,
                                                       .table = collective.table});
    code_.reads.back() = code_.ops[c][o].end;
    until_ = o;
    return true;
}

// Charges an op from its start to its end.
void ChargeGenerator::add_op(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    const OpValues& values = code_.ops[c][o];
    if (op.kind == OpKind::copy || (op.kind == OpKind::host && op.phase == Phase::data))
        return charge({values.end, static_cast<std::uint32_t>(Sum::data)});
    if (op.kind == OpKind::host || op.kind == OpKind::compute)
        return charge({values.end, none});
    const Label& label = program_.labels[op.label.value];
    const std::uint32_t exposed = static_cast<std::uint32_t>(Sum::classes) +
                                  generated_.transfer_classes[c].index[transfer_class(label)];
    const auto bubble = static_cast<std::uint32_t>(Sum::bubble);
    if (op.kind == OpKind::collective) {
        const bool joins_stages = stages_[c][op.group.value] != 0;
        charge({values.begin, joins_stages ? bubble : static_cast<std::uint32_t>(Sum::waiting)});
        return charge({values.end, exposed});
    }
    if (op.part_count == 1) {
        charge({values.begin, bubble});
        return charge({values.end, exposed});
    }
    // The parts are charged in the order in which they begin.
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartValues& part = code_.parts[c][p];
        charge({part.begin, bubble, part.end, exposed, op.part_first + op.part_count - p});
    }
}

// Guards that on each stream the op in front of the tail is over when the last compute is.
void ChargeGenerator::guard_tail(std::uint32_t c)
{
    for (std::size_t s = 0; s < kind(c).streams.size(); ++s) {
        const StreamPlan& stream = kind(c).streams[s];
        const std::uint32_t first = plans_[c].tail[s];
        if (first == 0 || stream.kind == StreamKind::compute)
            continue;
        std::vector<std::uint32_t> over(kind(c).streams.size());
        precedence(c).add_end_of(over, plans_[c].last_compute);
        if (over[s] >= first)
            continue;
        begin(Instr::Opcode::guard, c);
        read(code_.ops[c][stream.op_first + first - 1].end);
        read(code_.ops[c][plans_[c].last_compute].end);
        note_uses();
    }
}

void ChargeGenerator::plan_tail(std::uint32_t c)
{
    ChargePlan& plan = plans_[c];
    for (std::size_t s = 0; s < kind(c).streams.size(); ++s) {
        begin(Instr::Opcode::charge, c);
        read(code_.ops[c][plan.last_compute].end);
        for (std::uint32_t p = plan.tail[s]; p < kind(c).streams[s].op_count; ++p) {
            const std::uint32_t o = kind(c).streams[s].op_first + p;
            charge({code_.ops[c][o].start, none});
            add_op(c, o);
        }
        plan.tail_charges.push_back(code_.instrs.back());
        code_.instrs.pop_back();
    }
}

} // namespace trainyard::engine::replay
