#pragma once

// A step as straight-line code: each instruction is a plain loop over the lanes of a class that
// reads and writes columns, one time per lane.

#include "sim/engine/replay/tables.h"

namespace trainyard::engine::replay {

// The number of a column that the code writes once per step, or that is an input.
using Value = std::uint32_t;

struct Instr {
    enum class Opcode : std::uint8_t {
        // writes[0] = max(reads, base + constant).
        latest,
        // Writes start = max(reads, base + constant) and
        // end = max(start + table, base + end_constant + kernel of the table).
        run,
        // As run, slowed by an overlap set. Writes start, device done, end and, where lanes are
        // charged one by one, the work left when the step before ended.
        compute,
        // Reads the arrival, and writes begin and end, of each member class. If `counted`, it sums
        // the waiting of its transfer class.
        collective,
        // Reads the arrivals of sender and receiver, writes begin and end; sums the waiting of
        // both.
        message,
        // The same where sender and receiver differ in index: writes begin and end of either side.
        permuted_message,
        // Reads the arrival of the sender, writes its end.
        eager_send,
        // Reads arrival and end of the sender and the receiver's arrival; writes begin and end of
        // the receiver.
        eager_receive,
        // Reads arrival, begin and end; sums the waiting and the moving time of a transfer class.
        count,
        // Reads where the time charged begins; its charges say who takes it.
        charge,
        // Asserts reads[0] <= reads[1]; where that fails the code does not fit the numbers.
        guard
    };
    Opcode opcode = Opcode::latest;
    bool measured : 1 = false; // it runs in the measured step only
    // A collective of one member class sums its waiting; compute sums by how much it is slowed.
    bool counted : 1 = false;
    bool holds_up : 1 = false;  // a counted collective that compute waits for from its arrival on
    bool host_ends : 1 = false; // the end waits for the host
    bool varies : 1 = false;    // its table is another one in every step ...
    bool drawn : 1 = false;     // ... because its times are drawn as it is executed
    std::uint32_t lane_class = 0;
    // Of a collective the group class; of a message the sender's pipe, of eager_receive the
    // receiver's.
    std::uint32_t group_or_pipe = none;
    std::uint32_t read_first = 0;
    std::uint32_t read_count = 0;
    Value write_first = 0; // values that follow each other
    std::uint32_t write_count = 0;
    // What counts: its transfer class. A message: that of the sender, or none. Compute: its overlap
    // set. Charge: the first of the charges.
    std::uint32_t extra = 0;
    // A message: the transfer class of the receiver, or none. Charge: how many charges. Where times
    // are drawn: the jittered op.
    std::uint32_t extra_count = 0;
    Value base = none; // the time that the host's segment began
    Time constant = 0;
    Time end_constant = 0;
    const TimeTable* table = nullptr;
};

// The part of a device that compute loses between two times.
struct Load {
    Value from = none;
    Value to = none;                // none: longer than the compute lasts
    const PerLane* delay = nullptr; // after `from`; null: none
    const PerLane* share = nullptr; // of 2^20
};

// A transfer that overlaps compute and slows it, all of whose times are known.
struct Overlap {
    Value start = none;
    Value end = none;
    std::uint32_t load_first = 0;
    std::uint32_t load_count = 0;
};

// The overlapping transfers [first, end) of one list.
struct OverlapRange {
    std::uint32_t list = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
};

// All that may slow a compute op: transfers in progress by their loads, and ranges of overlaps.
struct OverlapSet {
    std::uint32_t load_first = 0;
    std::uint32_t load_count = 0;
    std::uint32_t range_first = 0;
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

// The values that say when an op runs. A transfer op arrives at its start.
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
    std::uint32_t lane_class = 0;
    std::uint32_t slot = none;  // column of the lane class, or of a slice
    std::uint32_t last_use = 0; // instruction; always: it is needed behind the code
    bool in_slice = false;      // is written and read while one slice is executed
};

// At the end of a step `from` + `add` becomes `to` of the next.
struct Carry {
    Value from = none;
    Value to = none;
    Time add = 0;
};

// The inputs of a step on the lanes of a class.
struct Inputs {
    Value lane_start = none; // the same in every step
    Value opened = none;     // end of the step before
    Value base = none;       // of the first host segment
    std::vector<Value> stream_ends;
    std::map<std::uint32_t, Value> ends; // of ops of the step before that are waited for
    std::map<Value, Value> overlaps;     // times of transfers of the step before, by their values
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
    for (const auto& [from, value] : in.overlaps)
        visit(value);
}

struct StepCode {
    std::vector<Instr> instrs;
    std::vector<Value> reads; // of all instructions, as are overlap_sets and charges
    std::vector<OverlapSet> overlap_sets;
    std::vector<Load> loads;
    // Each list is of one stream of a lane class, in its order; those of the step before have lists
    // of their own.
    std::vector<std::vector<Overlap>> overlaps;
    std::vector<OverlapRange> ranges;
    std::vector<Charge> charges;
    std::vector<ValueInfo> values;
    std::vector<Carry> carries;
    std::vector<Inputs> inputs;                 // by lane class
    std::vector<std::vector<OpValues>> ops;     // by lane class, op
    std::vector<std::vector<PartValues>> parts; // by lane class, part
    std::vector<Value> lane_ends;               // by lane class: end of the step
    std::vector<std::uint32_t> slots;           // columns, by lane class
    std::uint32_t slice_slots = 0;              // columns of the slice at hand, of any lane class
};

inline std::span<const Value> reads_of(const StepCode& code, const Instr& instr)
{
    return {code.reads.data() + instr.read_first, instr.read_count};
}

inline std::span<const Charge> charges_of(const StepCode& code, const Instr& instr)
{
    if (instr.opcode != Instr::Opcode::charge)
        return {};
    return {code.charges.data() + instr.extra, instr.extra_count};
}

inline std::span<const Load> loads_of(const StepCode& code, const Instr& instr)
{
    if (instr.opcode != Instr::Opcode::compute)
        return {};
    const OverlapSet& set = code.overlap_sets[instr.extra];
    return {code.loads.data() + set.load_first, set.load_count};
}

inline std::span<const Load> loads_of(const StepCode& code, const Overlap& overlap)
{
    return {code.loads.data() + overlap.load_first, overlap.load_count};
}

inline std::span<const OverlapRange> ranges_of(const StepCode& code, const Instr& instr)
{
    if (instr.opcode != Instr::Opcode::compute)
        return {};
    const OverlapSet& set = code.overlap_sets[instr.extra];
    return {code.ranges.data() + set.range_first, set.range_count};
}

// Keeps the column of the value until the step is over.
inline void keep(StepCode& code, Value value)
{
    code.values[value].last_use = always;
}

// Calls `visit` with the values that say when an overlapping transfer runs.
template <class Visit>
void for_each_value(const StepCode& code, const Overlap& overlap, const Visit& visit)
{
    visit(overlap.start);
    visit(overlap.end);
    for (const Load& load : loads_of(code, overlap)) {
        visit(load.from);
        visit(load.to);
    }
}

// Calls `visit` with each overlapping transfer that an instruction names, by list and place, and
// with the last such instruction, or a later one.
template <class Visit>
void for_each_last_use(const StepCode& code, const Visit& visit)
{
    struct Seen {
        std::uint32_t first = none;
        std::uint32_t end = 0;
    };
    std::vector<Seen> seen(code.overlaps.size());
    for (auto i = static_cast<std::uint32_t>(code.instrs.size()); i-- > 0;)
        for (const OverlapRange& range : ranges_of(code, code.instrs[i])) {
            Seen& of = seen[range.list];
            if (of.first == none)
                of = {range.first, range.first};
            for (; of.end < range.end; ++of.end)
                visit(range.list, of.end, i);
            for (; of.first > range.first; --of.first)
                visit(range.list, of.first - 1, i);
        }
}

// Calls `visit` with all values that say when an op of a lane class runs; some are none.
template <class Visit>
void for_each_value(const StepCode& code, const LaneKind& kind, std::uint32_t lane_class,
                    std::uint32_t o, const Visit& visit)
{
    const OpValues& values = code.ops[lane_class][o];
    for (const Value value : {values.start, values.begin, values.device, values.end, values.left})
        visit(value);
    const FlatOp& op = kind.ops[o];
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
        visit(code.parts[lane_class][p].begin);
        visit(code.parts[lane_class][p].end);
    }
}

} // namespace trainyard::engine::replay
