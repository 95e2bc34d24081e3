#include "sim/engine/replay/composer.h"
#include "sim/engine/totals.h"

namespace trainyard::engine::replay {

void Composer::arrive(std::uint32_t c, std::uint32_t o)
{
    begin(Instr::Code::latest, c);
    wait(c, o);
    tape().ops[c][o].start = write_to(c);
    if (charged(c, o))
        charger_->charge_gap(c, o);
    const FlatOp& op = kind(c).ops[o];
    if (op.kind != OpKind::collective)
        return;
    const std::uint32_t m = cohorts_.all[c].meetings[op.group.value];
    const Meeting& meeting = cohorts_.meetings[m];
    // The slot of the seat is the first that stands for the group.
    for (std::size_t s = 0; s < meeting.seats.size(); ++s) {
        const Seat& seat = meeting.seats[s];
        if (seat.cohort == c && cohorts_.all[c].first_slots[op.group.value] == seat.slot)
            gathered_[m][op.ordinal * meeting.seats.size() + s] = o;
    }
}

bool Composer::gather(std::uint32_t m, std::uint32_t ordinal)
{
    const Meeting& meeting = cohorts_.meetings[m];
    const std::uint32_t* members = gathered_[m].data() + ordinal * meeting.seats.size();
    ops_.clear();
    for (std::size_t s = 0; s < meeting.seats.size(); ++s)
        ops_.push_back(&kind(meeting.seats[s].cohort).ops[members[s]]);
    const TimeTable* table = tables_.collective(m, ops_);
    if (table == nullptr)
        return false;
    begin(Instr::Code::gather, meeting.seats[0].cohort);
    last().meeting = m;
    last().table = table;
    for (std::size_t s = 0; s < meeting.seats.size(); ++s)
        read(tape().ops[meeting.seats[s].cohort][members[s]].start);
    for (std::size_t s = 0; s < meeting.seats.size(); ++s) {
        OpValues& values = tape().ops[meeting.seats[s].cohort][members[s]];
        values.begin = write_to(meeting.seats[s].cohort);
        values.end = write_to(meeting.seats[s].cohort);
    }
    if (meeting.seats.size() == 1) {
        last().counted = true;
        last().extra = count_moving(meeting.seats[0].cohort, *ops_[0],
                                    {.by = Moving::By::group, .where = m, .table = table});
        charger_->note_gather(meeting.seats[0].cohort, members[0]);
    } else {
        for (std::size_t s = 0; s < meeting.seats.size(); ++s)
            count(meeting.seats[s].cohort, members[s]);
    }
    for (std::size_t s = 0; s < meeting.seats.size(); ++s)
        end_transfer(meeting.seats[s].cohort, members[s]);
    return true;
}

bool Composer::message(Instr::Code code, std::uint32_t c, std::uint32_t p)
{
    const PartPlan& sent = kind(c).parts[p];
    const std::uint32_t o = known_[c].op_of_part(p);
    const PipeLink& link = cohorts_.all[c].pipes[sent.pipe];
    const std::uint32_t there = known_[link.cohort].part_at(link.pipe, sent.ordinal);
    const std::uint32_t their_op = known_[link.cohort].op_of_part(there);
    const TimeTable* table = tables_.message(
        c, kind(c).ops[o], sent, kind(link.cohort).ops[their_op], kind(link.cohort).parts[there]);
    if (table == nullptr)
        return false;
    PartValues& ours = tape().parts[c][p];
    PartValues& theirs = tape().parts[link.cohort][there];
    const Value arrival = tape().ops[c][o].start;
    const Value their_arrival = tape().ops[link.cohort][their_op].start;
    if (code == Instr::Code::send) {
        begin(code, c);
        read(arrival);
        ours.begin = arrival;
        ours.end = write_to(c);
    } else if (eager_[c][p] != 0) {
        begin(Instr::Code::take, link.cohort);
        read(arrival);
        read(ours.end);
        read(their_arrival);
        theirs.begin = write_to(link.cohort);
        theirs.end = write_to(link.cohort);
    } else {
        begin(link.partners.empty() ? code : Instr::Code::pass_over, c);
        read(arrival);
        read(their_arrival);
        ours.begin = write_to(c);
        ours.end = write_to(c);
        theirs = ours;
        if (!link.partners.empty()) {
            theirs.begin = write_to(link.cohort);
            theirs.end = write_to(link.cohort);
        }
    }
    last().table = table;
    last().meeting = sent.pipe;
    if (code != Instr::Code::send && eager_[c][p] != 0) {
        last().meeting = link.pipe; // partners as the receiver sees them
        return true;
    }
    last().extra = last().extra_count = none;
    if (kind(c).ops[o].part_count == 1)
        last().extra = count_moving(c, kind(c).ops[o], {.table = table});
    if (code == Instr::Code::pass && kind(link.cohort).ops[their_op].part_count == 1)
        last().extra_count =
            count_moving(link.cohort, kind(link.cohort).ops[their_op],
                         {.by = link.partners.empty() ? Moving::By::lane : Moving::By::partner,
                          .where = link.partners.empty() ? 0 : link.pipe,
                          .table = table});
    return true;
}

void Composer::complete(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    OpValues& values = tape().ops[c][o];
    if (op.part_count == 1) {
        values.begin = tape().parts[c][op.part_first].begin;
        values.end = tape().parts[c][op.part_first].end;
        const PartPlan& part = kind(c).parts[op.part_first];
        if (eager_[c][op.part_first] != 0 && part.direction == Direction::receive)
            count(c, o);
    } else {
        const auto latest = [&](auto member) {
            begin(Instr::Code::latest, c);
            read(values.start);
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
                read(tape().parts[c][p].*member);
            return write_to(c);
        };
        values.begin = latest(&PartValues::begin);
        values.end = latest(&PartValues::end);
        count(c, o);
    }
    end_transfer(c, o);
}

void Composer::count(std::uint32_t c, std::uint32_t o)
{
    const OpValues& values = tape().ops[c][o];
    begin(Instr::Code::count, c);
    last().measured = true;
    last().extra = total_of(c, kind(c).ops[o]);
    read(values.start);
    read(values.begin);
    read(values.end);
}

// Gives the total of its class.
std::uint32_t Composer::count_moving(std::uint32_t c, const FlatOp& op, Moving moving)
{
    moving.total = total_of(c, op);
    count_one(result_.totals[c].moving, moving);
    return moving.total;
}

std::uint32_t Composer::total_of(std::uint32_t c, const FlatOp& op)
{
    Totals& totals = result_.totals[c];
    const std::size_t what = transfer_class(program_.labels[op.label.value]);
    std::uint32_t& index = totals.index[what];
    if (index == none) {
        index = static_cast<std::uint32_t>(totals.classes.size());
        totals.classes.push_back(static_cast<std::uint32_t>(what));
    }
    return index;
}

// Compute behind it in this order knows all its times.
void Composer::end_transfer(std::uint32_t c, std::uint32_t o)
{
    add_rival(c, o);
    if (charged(c, o))
        charger_->charge_own(c, o);
}

} // namespace trainyard::engine::replay
