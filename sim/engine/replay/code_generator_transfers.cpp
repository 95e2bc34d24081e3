#include "sim/engine/replay/code_generator.h"
#include "sim/engine/totals.h"

namespace trainyard::engine::replay {

void CodeGenerator::arrive(std::uint32_t c, std::uint32_t o)
{
    begin(Instr::Opcode::latest, c);
    wait(c, o);
    code().ops[c][o].start = write_to(c);
    if (charged(c, o))
        charge_generator_->charge_gap(c, o);
    const FlatOp& op = kind(c).ops[o];
    if (op.kind != OpKind::collective)
        return;
    const std::uint32_t m = classes_.all[c].group_classes[op.group.value];
    const GroupClass& group_class = classes_.group_classes[m];
    // The slot of the member class is the first that stands for the group.
    for (std::size_t s = 0; s < group_class.classes.size(); ++s) {
        const MemberClass& member_class = group_class.classes[s];
        if (member_class.lane_class == c &&
            classes_.all[c].first_slots[op.group.value] == member_class.slot)
            member_ops_[m][op.ordinal * group_class.classes.size() + s] = o;
    }
}

bool CodeGenerator::collective(std::uint32_t m, std::uint32_t ordinal)
{
    const GroupClass& group_class = classes_.group_classes[m];
    const std::uint32_t* members = member_ops_[m].data() + ordinal * group_class.classes.size();
    ops_.clear();
    for (std::size_t s = 0; s < group_class.classes.size(); ++s)
        ops_.push_back(&kind(group_class.classes[s].lane_class).ops[members[s]]);
    const TimeTable* table = tables_.collective(m, ops_);
    if (table == nullptr)
        return false;
    begin(Instr::Opcode::collective, group_class.classes[0].lane_class);
    last().group_or_pipe = m;
    last().table = table;
    for (std::size_t s = 0; s < group_class.classes.size(); ++s)
        read(code().ops[group_class.classes[s].lane_class][members[s]].start);
    for (std::size_t s = 0; s < group_class.classes.size(); ++s) {
        OpValues& values = code().ops[group_class.classes[s].lane_class][members[s]];
        values.begin = write_to(group_class.classes[s].lane_class);
        values.end = write_to(group_class.classes[s].lane_class);
    }
    if (group_class.classes.size() == 1) {
        last().counted = true;
        last().extra = count_moving(group_class.classes[0].lane_class, *ops_[0],
                                    {.by = MovingTime::By::group, .where = m, .table = table});
        charge_generator_->note_collective(group_class.classes[0].lane_class, members[0]);
    } else {
        for (std::size_t s = 0; s < group_class.classes.size(); ++s)
            count(group_class.classes[s].lane_class, members[s]);
    }
    for (std::size_t s = 0; s < group_class.classes.size(); ++s)
        end_transfer(group_class.classes[s].lane_class, members[s]);
    return true;
}

bool CodeGenerator::message(Instr::Opcode opcode, std::uint32_t c, std::uint32_t p)
{
    const PartPlan& sent = kind(c).parts[p];
    const std::uint32_t o = precedence_[c].op_of_part(p);
    const PipeLink& link = classes_.all[c].pipes[sent.pipe];
    const std::uint32_t there = precedence_[link.lane_class].part_at(link.pipe, sent.ordinal);
    const std::uint32_t their_op = precedence_[link.lane_class].op_of_part(there);
    const TimeTable* table =
        tables_.message(c, kind(c).ops[o], sent, kind(link.lane_class).ops[their_op],
                        kind(link.lane_class).parts[there]);
    if (table == nullptr)
        return false;
    PartValues& ours = code().parts[c][p];
    PartValues& theirs = code().parts[link.lane_class][there];
    const Value arrival = code().ops[c][o].start;
    const Value their_arrival = code().ops[link.lane_class][their_op].start;
    if (opcode == Instr::Opcode::eager_send) {
        begin(opcode, c);
        read(arrival);
        ours.begin = arrival;
        ours.end = write_to(c);
    } else if (eager_[c][p] != 0) {
        begin(Instr::Opcode::eager_receive, link.lane_class);
        read(arrival);
        read(ours.end);
        read(their_arrival);
        theirs.begin = write_to(link.lane_class);
        theirs.end = write_to(link.lane_class);
    } else {
        begin(link.partners.empty() ? opcode : Instr::Opcode::permuted_message, c);
        read(arrival);
        read(their_arrival);
        ours.begin = write_to(c);
        ours.end = write_to(c);
        theirs = ours;
        if (!link.partners.empty()) {
            theirs.begin = write_to(link.lane_class);
            theirs.end = write_to(link.lane_class);
        }
    }
    last().table = table;
    last().group_or_pipe = sent.pipe;
    if (opcode != Instr::Opcode::eager_send && eager_[c][p] != 0) {
        last().group_or_pipe = link.pipe; // partners as the receiver sees them
        return true;
    }
    last().extra = last().extra_count = none;
    if (kind(c).ops[o].part_count == 1)
        last().extra = count_moving(c, kind(c).ops[o], {.table = table});
    if (opcode == Instr::Opcode::message && kind(link.lane_class).ops[their_op].part_count == 1)
        last().extra_count = count_moving(
            link.lane_class, kind(link.lane_class).ops[their_op],
            {.by = link.partners.empty() ? MovingTime::By::lane : MovingTime::By::partner,
             .where = link.partners.empty() ? 0 : link.pipe,
             .table = table});
    return true;
}

void CodeGenerator::complete(std::uint32_t c, std::uint32_t o)
{
    const FlatOp& op = kind(c).ops[o];
    OpValues& values = code().ops[c][o];
    if (op.part_count == 1) {
        values.begin = code().parts[c][op.part_first].begin;
        values.end = code().parts[c][op.part_first].end;
        const PartPlan& part = kind(c).parts[op.part_first];
        if (eager_[c][op.part_first] != 0 && part.direction == Direction::receive)
            count(c, o);
    } else {
        const auto latest = [&](auto member) {
            begin(Instr::Opcode::latest, c);
            read(values.start);
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
                read(code().parts[c][p].*member);
            return write_to(c);
        };
        values.begin = latest(&PartValues::begin);
        values.end = latest(&PartValues::end);
        count(c, o);
    }
    end_transfer(c, o);
}

void CodeGenerator::count(std::uint32_t c, std::uint32_t o)
{
    const OpValues& values = code().ops[c][o];
    begin(Instr::Opcode::count, c);
    last().measured = true;
    last().extra = transfer_class_of(c, kind(c).ops[o]);
    read(values.start);
    read(values.begin);
    read(values.end);
}

// Counts how long the op moves data, and gives its transfer class.
std::uint32_t CodeGenerator::count_moving(std::uint32_t c, const FlatOp& op, MovingTime moving)
{
    moving.transfer_class = transfer_class_of(c, op);
    count_one(result_.transfer_classes[c].moving, moving);
    return moving.transfer_class;
}

std::uint32_t CodeGenerator::transfer_class_of(std::uint32_t c, const FlatOp& op)
{
    TransferClasses& classes = result_.transfer_classes[c];
    const std::size_t what = transfer_class(program_.labels[op.label.value]);
    std::uint32_t& index = classes.index[what];
    if (index == none) {
        index = static_cast<std::uint32_t>(classes.used.size());
        classes.used.push_back(static_cast<std::uint32_t>(what));
    }
    return index;
}

// From here on in this order compute knows all times of the transfer.
void CodeGenerator::end_transfer(std::uint32_t c, std::uint32_t o)
{
    add_overlap(c, o);
    if (charged(c, o))
        charge_generator_->charge_op(c, o);
}

} // namespace trainyard::engine::replay
