#include "sim/engine/replay/compose.h"

#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// The transfers of a communication stream that slow compute.
struct SlowingStream {
    std::vector<std::uint32_t> ops;
    std::vector<std::uint32_t> before; // by position in the stream, and its end: how many
    std::uint32_t list = none;         // of rivals
    std::uint32_t list_before = none;  // likewise of the step before, from `first_before` on
    std::uint32_t first_before = none;
};

class Composer {
public:
    Composer(const Program& program, const OrderRequest& request, WorkLeft left, Tables& tables)
        : program_(program),
          cohorts_(request.cohorts),
          known_(request.known),
          eager_(request.eager),
          slows_(request.slows),
          tables_(tables),
          keeps_left_(left == WorkLeft::kept)
    {
        for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
            bring_in(c);
        for (const Meeting& meeting : cohorts_.meetings)
            gathered_.emplace_back(std::size_t{meeting.per_step} * meeting.seats.size(), none);
    }

    std::optional<Composed> compose(const std::vector<Act>& acts) &&
    {
        for (const Act& act : acts)
            if (!write(act))
                return std::nullopt;
        load_from_before();
        for (std::uint32_t c = 0; c < cohorts_.all.size(); ++c)
            carry_out(c);
        return std::move(result_);
    }

private:
    const LaneKind& kind(std::uint32_t c) const { return *cohorts_.all[c].kind; }
    Tape& tape() { return result_.tape; }

    Value value(std::uint32_t cohort)
    {
        tape().values.push_back({cohort, none});
        return static_cast<Value>(tape().values.size() - 1);
    }

    void bring_in(std::uint32_t c)
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
        std::vector<std::uint32_t> op_of_part(kind(c).parts.size());
        std::vector<std::vector<std::uint32_t>> parts_of_pipe(kind(c).parts_per_step.size());
        for (std::uint32_t o = 0; o < kind(c).ops.size(); ++o)
            for (std::uint32_t p = 0; p < kind(c).ops[o].part_count; ++p)
                op_of_part[kind(c).ops[o].part_first + p] = o;
        for (std::uint32_t p = 0; p < kind(c).parts.size(); ++p)
            parts_of_pipe[kind(c).parts[p].pipe].push_back(p);
        op_of_part_.push_back(std::move(op_of_part));
        parts_of_pipe_.push_back(std::move(parts_of_pipe));
        result_.totals.emplace_back().index.assign(transfer_class_count(), none);
        result_.times.emplace_back(kind(c).ops.size());
        find_slowing(c);
        computes_on_one_stream_.push_back(computes_on_one_stream(kind(c)));
    }

    void find_slowing(std::uint32_t c)
    {
        auto& of_cohort = slowing_.emplace_back(kind(c).streams.size());
        for (std::size_t s = 0; s < of_cohort.size() && !slows_[c].empty(); ++s) {
            const StreamPlan& stream = kind(c).streams[s];
            if (stream.kind != StreamKind::communication)
                continue;
            for (std::uint32_t p = 0; p < stream.op_count; ++p) {
                of_cohort[s].before.push_back(static_cast<std::uint32_t>(of_cohort[s].ops.size()));
                if (slows_[c][stream.op_first + p] != 0)
                    of_cohort[s].ops.push_back(stream.op_first + p);
            }
            of_cohort[s].before.push_back(static_cast<std::uint32_t>(of_cohort[s].ops.size()));
            of_cohort[s].list = static_cast<std::uint32_t>(tape().rivals.size());
            tape().rivals.emplace_back();
        }
    }

    void begin(Instr::Code code, std::uint32_t cohort)
    {
        Instr instr;
        instr.code = code;
        instr.cohort = cohort;
        instr.read_first = static_cast<std::uint32_t>(tape().reads.size());
        instr.write_first = static_cast<std::uint32_t>(tape().writes.size());
        tape().instrs.push_back(instr);
    }
    Instr& last() { return tape().instrs.back(); }
    void read(Value value)
    {
        tape().reads.push_back(value);
        ++last().read_count;
    }
    Value write_to(std::uint32_t cohort)
    {
        const Value written = value(cohort);
        tape().writes.push_back(written);
        ++last().write_count;
        return written;
    }

    bool write(const Act& act)
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

    // When the host issues the op, as the base and constant of the last instruction.
    void issue(std::uint32_t c, const FlatOp& op, Time offset)
    {
        const Inputs& in = tape().inputs[c];
        if (op.by_itself) {
            last().base = in.lane_start;
            return;
        }
        last().base =
            op.segment == 0 ? in.base : tape().ops[c][known_[c].barriers()[op.segment - 1]].end;
        last().constant = offset;
    }

    // Starts: the stream is free, the waits are over, the host has issued it.
    Value start(std::uint32_t c, std::uint32_t o)
    {
        const FlatOp& op = kind(c).ops[o];
        begin(Instr::Code::latest, c);
        issue(c, op, op.issue_offset.value());
        const std::uint32_t position = known_[c].position_of(o);
        const std::uint8_t stream = known_[c].stream_of(o);
        needed_.clear();
        if (position > 0)
            needed_.push_back(o - 1);
        else
            read(tape().inputs[c].stream_ends[stream]);
        for (std::size_t w = 0; w < op.wait_count; ++w) {
            const StepWait& wait = kind(c).waits[op.wait_first + w];
            const std::uint32_t on = kind(c).streams[wait.stream].op_first + wait.position;
            if (wait.previous_step)
                read(tape().inputs[c].ends.at(on));
            else
                needed_.push_back(on);
        }
        read_needed(c);
        Value& at = tape().ops[c][o].start;
        at = write_to(c);
        return at;
    }

    // Leaves out what is over whenever another is.
    void read_needed(std::uint32_t c)
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

    void run(std::uint32_t c, std::uint32_t o)
    {
        const FlatOp& op = kind(c).ops[o];
        const Value at = start(c, o);
        const OpTimes times = tables_.times(c, op);
        const bool slowed = op.kind == OpKind::compute && !slows_[c].empty();
        begin(slowed ? Instr::Code::compute : Instr::Code::timed, c);
        read(at);
        if (slowed)
            load(c, o);
        last().table = times.duration;
        result_.times[c][o] = times.duration;
        if (op.kind != OpKind::host && !op.by_itself) {
            issue(c, op, op.issue_offset.value() + op.issue_rest.value());
            if (op.kernels > 0)
                last().table2 = times.kernel;
            else
                last().constant = op.issue_offset.value();
        }
        if (slowed)
            tape().ops[c][o].device = write_to(c);
        tape().ops[c][o].end = write_to(c);
        if (slowed && (keeps_left_ || !computes_on_one_stream_[c]))
            tape().ops[c][o].left = write_to(c);
    }

    // What may run beside compute: transfers that are over by now in this order, and of each stream
    // at most one that has begun.
    void load(std::uint32_t c, std::uint32_t o)
    {
        last().load_first = static_cast<std::uint32_t>(tape().loads.size());
        last().range_first = static_cast<std::uint32_t>(tape().ranges.size());
        const auto over = known_[c].at_start(o);
        const auto over_before = known_[c].before_at_start(o);
        for (std::uint32_t s = 0; s < kind(c).streams.size(); ++s) {
            const SlowingStream& stream = slowing_[c][s];
            if (stream.ops.empty() || s == known_[c].stream_of(o))
                continue;
            const auto done = static_cast<std::uint32_t>(tape().rivals[stream.list].size());
            if (const std::uint32_t first = stream.before[over[s]]; first < done)
                tape().ranges.push_back({stream.list, first, done});
            if (done < stream.ops.size())
                for_each_load(c, stream.ops[done], [&](const Load& load) {
                    if (load.from != none)
                        tape().loads.push_back(load);
                });
            if (const std::uint32_t first = stream.before[over_before[s]];
                first < stream.ops.size())
                before_.push_back(
                    {static_cast<std::uint32_t>(tape().instrs.size() - 1), c, s, first});
        }
        last().load_count = static_cast<std::uint32_t>(tape().loads.size()) - last().load_first;
        last().range_count = static_cast<std::uint32_t>(tape().ranges.size()) - last().range_first;
    }

    // A transfer is over: compute behind it in this order knows all its times.
    void add_rival(std::uint32_t c, std::uint32_t o)
    {
        if (slows_[c].empty() || slows_[c][o] == 0)
            return;
        const SlowingStream& stream = slowing_[c][known_[c].stream_of(o)];
        if (stream.ops.empty())
            return;
        const OpValues& values = tape().ops[c][o];
        Rival rival{values.start, values.end, static_cast<std::uint32_t>(tape().loads.size())};
        for_each_load(c, o, [&](const Load& load) { tape().loads.push_back(load); });
        rival.load_count = static_cast<std::uint32_t>(tape().loads.size()) - rival.load_first;
        tape().rivals[stream.list].push_back(rival);
    }

    // The parts of an exchange are one kernel: the largest counts.
    const Amount& resident_of(std::uint32_t c, const FlatOp& op)
    {
        if (op.part_count == 1)
            return tables_.load(c, kind(c).parts[op.part_first]).resident;
        Column most(cohorts_.all[c].lanes.size());
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            const Amount& share = tables_.load(c, kind(c).parts[p]).resident;
            for (std::size_t i = 0; i < most.size(); ++i)
                most[i] = std::max(most[i], share.of(i));
        }
        return tables_.keep({0, std::move(most)});
    }

    // The loads of a transfer, as far as its times are known so far.
    template <class Visit>
    void for_each_load(std::uint32_t c, std::uint32_t rival, const Visit& visit)
    {
        const FlatOp& op = kind(c).ops[rival];
        const OpValues& values = tape().ops[c][rival];
        const auto offer = [&](const Load& load) {
            if (!load.share->zero())
                visit(load);
        };
        if (op.kind == OpKind::collective) {
            const TransferLoad& load = tables_.load(c, op);
            offer({values.start, values.end, nullptr, &load.resident});
            offer({values.begin, values.end, &load.latency, &load.traffic});
            return;
        }
        offer({values.start, values.end, nullptr, &resident_of(c, op)});
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            const PartPlan& part = kind(c).parts[p];
            const PartValues& times = tape().parts[c][p];
            const TransferLoad& load = tables_.load(c, part);
            if (part.direction == Direction::send)
                offer({times.begin, times.end, &load.latency, &load.traffic});
        }
    }

    // Rivals from the step before: once all times have values, those come in to the next.
    void load_from_before()
    {
        for (const Before& before : before_) {
            SlowingStream& stream = slowing_[before.cohort][before.stream];
            stream.first_before = std::min(stream.first_before, before.first);
        }
        for (std::uint32_t c = 0; c < slowing_.size(); ++c)
            for (SlowingStream& stream : slowing_[c])
                if (stream.first_before != none)
                    bring_over(c, stream);
        for (const Before& before : before_) {
            const SlowingStream& stream = slowing_[before.cohort][before.stream];
            Instr& compute = tape().instrs[before.instr];
            const auto first = static_cast<std::uint32_t>(tape().ranges.size());
            for (std::uint32_t r = 0; r < compute.range_count; ++r) {
                const RivalRange range = tape().ranges[compute.range_first + r];
                tape().ranges.push_back(range);
            }
            tape().ranges.push_back(
                {stream.list_before, before.first - stream.first_before,
                 static_cast<std::uint32_t>(stream.ops.size()) - stream.first_before});
            compute.range_first = first;
            ++compute.range_count;
        }
    }

    void bring_over(std::uint32_t c, SlowingStream& stream)
    {
        stream.list_before = static_cast<std::uint32_t>(tape().rivals.size());
        std::vector<Rival> list(tape().rivals[stream.list].begin() + stream.first_before,
                                tape().rivals[stream.list].end());
        for (Rival& rival : list) {
            const std::uint32_t first = rival.load_first;
            rival.start = bring_over(c, rival.start);
            rival.end = bring_over(c, rival.end);
            rival.load_first = static_cast<std::uint32_t>(tape().loads.size());
            for (std::uint32_t l = 0; l < rival.load_count; ++l) {
                Load load = tape().loads[first + l];
                load.from = bring_over(c, load.from);
                load.to = bring_over(c, load.to);
                tape().loads.push_back(load);
            }
        }
        tape().rivals.push_back(std::move(list));
    }

    Value bring_over(std::uint32_t c, Value from)
    {
        auto& rivals = tape().inputs[c].rivals;
        const auto found = rivals.find(from);
        if (found != rivals.end())
            return found->second;
        const Value to = value(tape().values[from].cohort);
        rivals.emplace(from, to);
        tape().carries.push_back({from, to});
        return to;
    }

    void arrive(std::uint32_t c, std::uint32_t o)
    {
        start(c, o);
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

    bool gather(std::uint32_t m, std::uint32_t ordinal)
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
        for (std::size_t s = 0; s < meeting.seats.size(); ++s) {
            count(meeting.seats[s].cohort, members[s]);
            add_rival(meeting.seats[s].cohort, members[s]);
        }
        return true;
    }

    bool message(Instr::Code code, std::uint32_t c, std::uint32_t p)
    {
        const PartPlan& sent = kind(c).parts[p];
        const std::uint32_t o = op_of_part_[c][p];
        const PipeLink& link = cohorts_.all[c].pipes[sent.pipe];
        const std::uint32_t there = parts_of_pipe_[link.cohort][link.pipe][sent.ordinal];
        const std::uint32_t their_op = op_of_part_[link.cohort][there];
        const TimeTable* table =
            tables_.message(c, kind(c).ops[o], sent, kind(link.cohort).ops[their_op],
                            kind(link.cohort).parts[there]);
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
        if (code != Instr::Code::send && eager_[c][p] != 0)
            last().meeting = link.pipe; // partners as the receiver sees them
        return true;
    }

    void complete(std::uint32_t c, std::uint32_t o)
    {
        const FlatOp& op = kind(c).ops[o];
        OpValues& values = tape().ops[c][o];
        if (op.part_count == 1) {
            values.begin = tape().parts[c][op.part_first].begin;
            values.end = tape().parts[c][op.part_first].end;
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
        }
        count(c, o);
        add_rival(c, o);
    }

    void count(std::uint32_t c, std::uint32_t o)
    {
        const OpValues& values = tape().ops[c][o];
        Totals& totals = result_.totals[c];
        const std::size_t what = transfer_class(program_.labels[kind(c).ops[o].label.value]);
        std::uint32_t& index = totals.index[what];
        if (index == none) {
            index = static_cast<std::uint32_t>(totals.classes.size());
            totals.classes.push_back(static_cast<std::uint32_t>(what));
        }
        begin(Instr::Code::count, c);
        last().measured = true;
        last().total = index;
        read(values.start);
        read(values.begin);
        read(values.end);
    }

    void carry_out(std::uint32_t c)
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

    const Program& program_;
    const Cohorts& cohorts_;
    const std::vector<Known>& known_;
    const IsEager& eager_;
    const SlowsCompute& slows_;
    Tables& tables_;
    Composed result_;
    struct Before {
        std::uint32_t instr, cohort, stream;
        std::uint32_t first; // of the transfers of the stream that slow compute
    };
    bool keeps_left_;
    std::vector<bool> computes_on_one_stream_;        // by cohort
    std::vector<std::vector<SlowingStream>> slowing_; // by cohort, stream
    std::vector<Before> before_; // compute that transfers of the step before may slow
    std::vector<std::vector<std::uint32_t>> op_of_part_; // by cohort
    std::vector<std::vector<std::vector<std::uint32_t>>> parts_of_pipe_;
    std::vector<std::vector<std::uint32_t>> gathered_; // by meeting; ordinal x seats + seat: op
    std::vector<std::uint32_t> needed_; // ops of this step that the one at hand waits for
    std::vector<const FlatOp*> ops_;    // of the collective at hand
};

} // namespace

bool computes_on_one_stream(const LaneKind& kind)
{
    const auto computes = [](const StreamPlan& stream) {
        return stream.kind == StreamKind::compute;
    };
    if (std::count_if(kind.streams.begin(), kind.streams.end(), computes) != 1)
        return false;
    return std::all_of(kind.streams.begin(), kind.streams.end(), [&](const StreamPlan& stream) {
        const auto first = kind.ops.begin() + stream.op_first;
        return computes(stream) ||
               std::none_of(first, first + stream.op_count,
                            [](const FlatOp& op) { return op.kind == OpKind::compute; });
    });
}

std::optional<Composed> compose(const Program& program, const OrderRequest& request,
                                const std::vector<Act>& acts, WorkLeft left, Tables& tables)
{
    return Composer(program, request, left, tables).compose(acts);
}

} // namespace trainyard::engine::replay
