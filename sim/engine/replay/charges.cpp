#include "sim/engine/replay/charges.h"

#include "sim/engine/replay/ledger.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// Ops in front of the last compute that may end behind it: that many of each stream are looked at;
// the one before these is checked.
constexpr std::uint32_t tail_ops = 4;

// Than the op before it on its stream.
bool needs_no_more(const FlatOp& op, const FlatOp& before)
{
    return op.wait_count == 0 && (op.by_itself || op.segment == before.segment);
}

} // namespace

Charger::Charger(const Program& program, const OrderRequest& request, const JoinsStages& stages,
                 Composed& composed)
    : program_(program),
      request_(request),
      stages_(stages),
      composed_(composed),
      tape_(composed.tape)
{
    for (std::uint32_t c = 0; c < request_.cohorts.all.size(); ++c) {
        plans_.push_back(plan(c));
        gathers_.emplace_back(plans_[c].on_tape ? kind(c).op_count : 0, none);
    }
}

std::vector<CohortCharges> Charger::finish() &&
{
    for (std::uint32_t c = 0; c < plans_.size(); ++c)
        if (plans_[c].on_tape) {
            add_work(c);
            guard_tail(c);
            plan_tail(c);
        }
    return std::move(plans_);
}

const StreamPlan& Charger::compute_stream(std::uint32_t c) const
{
    return kind(c).streams[computing_stream(kind(c))];
}

CohortCharges Charger::plan(std::uint32_t c) const
{
    CohortCharges plan;
    const LaneKind& of = kind(c);
    plan.tail.resize(of.streams.size());
    if (computing_stream(of) == no_stream)
        return plan;
    const StreamPlan& compute = compute_stream(c);
    plan.on_tape = true;
    plan.last_compute = compute.op_first + compute.op_count - 1;
    std::vector<std::uint32_t> over(of.streams.size());
    known(c).add_end_of(over, plan.last_compute);
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

void Charger::add_work(std::uint32_t c)
{
    const StreamPlan& compute = compute_stream(c);
    for (std::uint32_t o = compute.op_first; o < compute.op_first + compute.op_count; ++o)
        if (kind(c).ops[o].kind == OpKind::compute && composed_.times[c][o] != nullptr)
            ++plans_[c].computing[{phase_index(kind(c).ops[o].phase), composed_.times[c][o]}];
}

void Charger::begin(Instr::Code code, std::uint32_t c)
{
    Instr& instr = tape_.instrs.emplace_back();
    instr.code = code;
    instr.cohort = c;
    instr.measured = true;
    instr.read_first = static_cast<std::uint32_t>(tape_.reads.size());
    instr.extra = static_cast<std::uint32_t>(tape_.charges.size());
}

void Charger::read(Value value)
{
    tape_.reads.push_back(value);
    ++tape_.instrs.back().read_count;
}

void Charger::note_uses()
{
    const auto at = static_cast<std::uint32_t>(tape_.instrs.size() - 1);
    for (const Value value : reads_of(tape_, tape_.instrs.back()))
        tape_.values[value].last_use = at;
    for (const Charge& charge : charges_of(tape_, tape_.instrs.back())) {
        tape_.values[charge.value].last_use = at;
        if (charge.then != none)
            tape_.values[charge.then].last_use = at;
    }
}

void Charger::charge(const Charge& entry)
{
    until_ = none;
    tape_.charges.push_back(entry);
    ++tape_.instrs.back().extra_count;
}

// Time that nobody takes is the host's, which is what the others leave.
void Charger::end_charge()
{
    Instr& instr = tape_.instrs.back();
    while (instr.extra_count > 0 && tape_.charges.back().into == none) {
        tape_.charges.pop_back();
        --instr.extra_count;
    }
    if (instr.extra_count > 0)
        return note_uses();
    tape_.reads.resize(instr.read_first);
    tape_.instrs.pop_back();
}

void Charger::note_gather(std::uint32_t c, std::uint32_t o)
{
    if (plans_[c].on_tape)
        gathers_[c][o] = static_cast<std::uint32_t>(tape_.instrs.size() - 1);
}

void Charger::charge_gap(std::uint32_t c, std::uint32_t o)
{
    const bool first = known(c).position_of(o) == 0;
    if (!first && needs_no_more(kind(c).ops[o], kind(c).ops[o - 1]))
        return;
    begin(Instr::Code::charge, c);
    read(first ? tape_.inputs[c].opened : tape_.ops[c][o - 1].end);
    over_.assign(kind(c).streams.size(), 0);
    if (!first)
        known(c).add_end_of(over_, o - 1);
    until_ = first ? none : o - 1;
    wait_for_needs(c, o);
    end_charge();
    if (!first)
        return;
    begin(Instr::Code::guard, c); // no op of the stream is cut by the step before
    read(tape_.inputs[c].opened);
    read(tape_.ops[c][o].start);
    note_uses();
}

void Charger::charge_own(std::uint32_t c, std::uint32_t o)
{
    begin(Instr::Code::charge, c);
    read(tape_.ops[c][o].start);
    take(c, o);
    end_charge();
}

// All that the op needs takes its time, as far as it is not over.
void Charger::wait_for_needs(std::uint32_t c, std::uint32_t o)
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
    while (first > 0 && !known(c).over(over_, known(c).barriers()[first - 1]))
        --first;
    for (; first < op.segment; ++first)
        wait_for(c, known(c).barriers()[first]);
}

// A stream up to the op.
void Charger::wait_for(std::uint32_t c, std::uint32_t o)
{
    const std::uint8_t stream = known(c).stream_of(o);
    while (!known(c).over(over_, o)) {
        const std::uint32_t next = kind(c).streams[stream].op_first + over_[stream];
        wait_for_needs(c, next);
        if (!holds_up(c, next)) {
            charge({tape_.ops[c][next].start, none});
            take(c, next);
        }
        known(c).add_end_of(over_, next);
    }
}

// Whether all of a collective, from its arrival on, is time that the gap waits for it: then it is
// charged where it is played.
bool Charger::holds_up(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    if (until_ == none || gathers_[c][o] == none || stages_[c][op.group.value] != 0 ||
        !known(c).over(known(c).at_start(o), until_))
        return false;
    Instr& gather = tape_.instrs[gathers_[c][o]];
    gather.holds_up = true;
    count_one(composed_.totals[c].exposed, {.total = gather.extra,
                                            .by = Moving::By::group,
                                            .where = gather.meeting,
                                            .table = gather.table});
    tape_.reads.back() = tape_.ops[c][o].end;
    until_ = o;
    return true;
}

// From its start to its end.
void Charger::take(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    const OpValues& values = tape_.ops[c][o];
    if (op.kind == OpKind::copy || (op.kind == OpKind::host && op.phase == Phase::data))
        return charge({values.end, static_cast<std::uint32_t>(Sum::data)});
    if (op.kind == OpKind::host || op.kind == OpKind::compute)
        return charge({values.end, none});
    const Label& label = program_.labels[op.label.value];
    const std::uint32_t exposed =
        static_cast<std::uint32_t>(Sum::classes) + composed_.totals[c].index[transfer_class(label)];
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
    // By their begins, the first first.
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        const PartValues& part = tape_.parts[c][p];
        charge({part.begin, bubble, part.end, exposed, op.part_first + op.part_count - p});
    }
}

// Of each stream, the op in front of the tail must be over with the last compute.
void Charger::guard_tail(std::uint32_t c)
{
    for (std::size_t s = 0; s < kind(c).streams.size(); ++s) {
        const StreamPlan& stream = kind(c).streams[s];
        const std::uint32_t first = plans_[c].tail[s];
        if (first == 0 || stream.kind == StreamKind::compute)
            continue;
        std::vector<std::uint32_t> over(kind(c).streams.size());
        known(c).add_end_of(over, plans_[c].last_compute);
        if (over[s] >= first)
            continue;
        begin(Instr::Code::guard, c);
        read(tape_.ops[c][stream.op_first + first - 1].end);
        read(tape_.ops[c][plans_[c].last_compute].end);
        note_uses();
    }
}

void Charger::plan_tail(std::uint32_t c)
{
    CohortCharges& plan = plans_[c];
    for (std::size_t s = 0; s < kind(c).streams.size(); ++s) {
        begin(Instr::Code::charge, c);
        read(tape_.ops[c][plan.last_compute].end);
        for (std::uint32_t p = plan.tail[s]; p < kind(c).streams[s].op_count; ++p) {
            const std::uint32_t o = kind(c).streams[s].op_first + p;
            charge({tape_.ops[c][o].start, none});
            take(c, o);
        }
        plan.tail_charges.push_back(tape_.instrs.back());
        tape_.instrs.pop_back();
    }
}

} // namespace trainyard::engine::replay
