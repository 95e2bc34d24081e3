#pragma once

// A step as plain loops over the lanes of a cohort: each instruction reads and writes columns, one
// time per lane.

#include "sim/engine/replay/tables.h"

#include <string>

namespace trainyard::engine::replay {

using Value = std::uint32_t; // a column that the tape writes once per step, or that comes in

struct Instr {
    enum class Code : std::uint8_t {
        latest,    // writes[0] = max(reads, base + constant)
        run,       // writes: start = max(reads, base + constant),
                   // end = max(start + table, base + end_constant + kernel of the table)
        compute,   // as run, slowed by loads and rivals; writes: start, device done, end and, where
                   // lanes are charged one by one, work left when the step before ended
        gather,    // reads: arrivals by seat; writes: begin, end by seat; one that counts sums the
                   // waiting of a class
        pass,      // reads: arrivals of sender, receiver; writes: begin, end; counts likewise
        pass_over, // likewise between other places; writes: begin, end there, begin, end here
        send,      // reads: arrival of the sender; writes: end
        take,      // reads: arrival and end of the sender, arrival here; writes: begin, end here
        count,     // reads: arrival, begin, end; sums waiting and moving of a class
        charge,    // reads: where the time charged begins; charges: who takes it
        guard      // reads[0] <= reads[1], or the tape does not fit
    };
    Code code = Code::latest;
    bool measured : 1 = false; // runs in the measured step only
    bool counted : 1 =
        false; // a gather of one seat, which counts; compute, which sums by how much it is slowed
    bool holds_up : 1 = false;  // a gather that counts: compute waits for it from its arrival on
    bool host_ends : 1 = false; // the end waits for the host
    bool varies : 1 = false;    // its table is another one in every step ...
    bool drawn : 1 = false;     // ... because its times are drawn as it is played
    std::uint32_t cohort = 0;
    std::uint32_t meeting = none; // gather; pass_over, take: pipe of the sender
    std::uint32_t read_first = 0;
    std::uint32_t read_count = 0;
    Value write_first = 0; // values that follow each other
    std::uint32_t write_count = 0;
    // Counts: the total. Passes: that of the sender, or none. Compute: what is beside it. Charge:
    // the first of the charges.
    std::uint32_t extra = 0;
    // Passes: the total of the receiver, or none. Charge: how many. Where times are drawn: the
    // number of what draws them.
    std::uint32_t extra_count = 0;
    Value base = none; // the time that the host's segment began
    Time constant = 0;
    Time end_constant = 0;
    const TimeTable* table = nullptr;
};

// Part of a device that compute loses between two times.
struct Load {
    Value from = none;
    Value to = none;               // none: longer than the compute lasts
    const Amount* delay = nullptr; // after `from`; null: none
    const Amount* share = nullptr; // of 2^20
};

// A transfer that slows compute beside it, all of whose times are known.
struct Rival {
    Value start = none;
    Value end = none;
    std::uint32_t load_first = 0;
    std::uint32_t load_count = 0;
};

// Of one list, the rivals [first, end).
struct RivalRange {
    std::uint32_t list = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
};

// What may slow a compute op.
struct Beside {
    std::uint32_t load_first = 0;
    std::uint32_t load_count = 0;
    std::uint32_t range_first = 0; // of rivals
    std::uint32_t range_count = 0;
};

// All time until `value` that is not charged yet goes to the sum `into` (none: to nobody). With
// `group`: as many entries, this one and those behind it, in the order of their values, each
// followed by `then` for `then_into`.
struct Charge {
    Value value = none;
    std::uint32_t into = none;
    Value then = none;
    std::uint32_t then_into = none;
    std::uint32_t group = 0;
};

// Where the values of an op are. Arrival is the start of its residence.
struct OpValues {
    Value start = none;
    Value begin = none;  // of a transfer: data may move (last part)
    Value device = none; // of compute that may be slowed: its device work is done
    Value end = none;
    Value left = none; // of compute that may be slowed: work when the measured step opens
};
struct PartValues {
    Value begin = none;
    Value end = none;
};

inline constexpr std::uint32_t always = 0xffffffff;

struct ValueInfo {
    std::uint32_t cohort = 0;
    std::uint32_t slot = none;  // column of the cohort, or of a slice
    std::uint32_t last_use = 0; // instruction; always: it is needed behind the tape
    bool in_slice = false;      // is written and read while one slice is played
};

// At the end of a step `from` + `add` becomes `to` of the next.
struct Carry {
    Value from = none;
    Value to = none;
    Time add = 0;
};

// What comes in to a step, by cohort.
struct Inputs {
    Value lane_start = none; // the same in every step
    Value opened = none;     // end of the step before
    Value base = none;       // of the first host segment
    std::vector<Value> stream_ends;
    std::map<std::uint32_t, Value> ends; // of ops of the step before that are waited for
    std::map<Value, Value> rivals;       // what else compute must know of the step before
};

template <class Visit>
void for_each_value(const Inputs& in, const Visit& visit)
{
    for (const Value value : {in.lane_start, in.opened, in.base})
        visit(value);
    for (const Value value : in.stream_ends)
        visit(value);
    for (const auto& [op, value] : in.ends)
        visit(value);
    for (const auto& [from, value] : in.rivals)
        visit(value);
}

struct Tape {
    std::vector<Instr> instrs;
    std::vector<Value> reads; // of all instructions, as are besides and charges
    std::vector<Beside> besides;
    std::vector<Load> loads;
    // Of one stream of a cohort each, in its order; those of the step before are lists of their
    // own.
    std::vector<std::vector<Rival>> rivals;
    std::vector<RivalRange> ranges;
    std::vector<Charge> charges;
    std::vector<ValueInfo> values;
    std::vector<Carry> carries;
    std::vector<Inputs> inputs;                 // by cohort
    std::vector<std::vector<OpValues>> ops;     // by cohort, op
    std::vector<std::vector<PartValues>> parts; // by cohort, part
    std::vector<Value> lane_ends;               // by cohort: end of the step
    std::vector<std::uint32_t> slots;           // columns, by cohort
    std::uint32_t slice_slots = 0;              // columns of the slice at hand, of any cohort
};

inline std::span<const Value> reads_of(const Tape& tape, const Instr& instr)
{
    return {tape.reads.data() + instr.read_first, instr.read_count};
}

inline std::span<const Charge> charges_of(const Tape& tape, const Instr& instr)
{
    if (instr.code != Instr::Code::charge)
        return {};
    return {tape.charges.data() + instr.extra, instr.extra_count};
}

inline std::span<const Load> loads_of(const Tape& tape, const Instr& instr)
{
    if (instr.code != Instr::Code::compute)
        return {};
    const Beside& beside = tape.besides[instr.extra];
    return {tape.loads.data() + beside.load_first, beside.load_count};
}

inline std::span<const Load> loads_of(const Tape& tape, const Rival& rival)
{
    return {tape.loads.data() + rival.load_first, rival.load_count};
}

inline std::span<const RivalRange> ranges_of(const Tape& tape, const Instr& instr)
{
    if (instr.code != Instr::Code::compute)
        return {};
    const Beside& beside = tape.besides[instr.extra];
    return {tape.ranges.data() + beside.range_first, beside.range_count};
}

// Its column stays until the step is over.
inline void keep(Tape& tape, Value value)
{
    tape.values[value].last_use = always;
}

// Calls with the values that say when a rival runs.
template <class Visit>
void for_each_value(const Tape& tape, const Rival& rival, const Visit& visit)
{
    visit(rival.start);
    visit(rival.end);
    for (const Load& load : loads_of(tape, rival)) {
        visit(load.from);
        visit(load.to);
    }
}

// Calls with every rival that some instruction names, by list and place, and the last that does;
// or one behind that.
template <class Visit>
void for_each_last_use(const Tape& tape, const Visit& visit)
{
    struct Seen {
        std::uint32_t first = none;
        std::uint32_t end = 0;
    };
    std::vector<Seen> seen(tape.rivals.size());
    for (auto i = static_cast<std::uint32_t>(tape.instrs.size()); i-- > 0;)
        for (const RivalRange& range : ranges_of(tape, tape.instrs[i])) {
            Seen& of = seen[range.list];
            if (of.first == none)
                of = {range.first, range.first};
            for (; of.end < range.end; ++of.end)
                visit(range.list, of.end, i);
            for (; of.first > range.first; --of.first)
                visit(range.list, of.first - 1, i);
        }
}

// Calls with all values that say when an op of a cohort runs; some are none.
template <class Visit>
void for_each_value(const Tape& tape, const LaneKind& kind, std::uint32_t cohort, std::uint32_t o,
                    const Visit& visit)
{
    const OpValues& values = tape.ops[cohort][o];
    for (const Value value : {values.start, values.begin, values.device, values.end, values.left})
        visit(value);
    const FlatOp& op = kind.ops[o];
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        visit(tape.parts[cohort][p].begin);
        visit(tape.parts[cohort][p].end);
    }
}

} // namespace trainyard::engine::replay
