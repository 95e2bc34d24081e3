#pragma once

// Executes the code of a step, on all lanes or on a slice of them.

#include "sim/engine/replay/generated_code.h"
#include "sim/engine/replay/slices.h"

namespace trainyard::engine::replay {

// A load on one lane.
struct LoadSpan {
    Time from;
    Time to;
    std::uint64_t share;
};

struct Drained {
    Time end = 0;
    u128 left = 0; // at `open`, in ps x 2^20
};

class Interpreter {
public:
    Interpreter(const LaneClasses& lane_classes, const GeneratedCode& generated, Tables& tables,
                const Kernels& kernels);

    const Kernels& kernels() const { return kernels_; }

    // The column of a value that outlives slices, by index in its lane class.
    Time* column(Value value) { return columns_.data() + line_lanes * lines_[value]; }
    // The column of any value, from the first of `lanes` on.
    Time* at(Value value, const Slice& lanes)
    {
        const std::uint32_t line = lines_[value];
        return line >= in_slice ? slice_columns_.data() + line_lanes * (line - in_slice)
                                : columns_.data() + line_lanes * line + lanes.first;
    }
    // A sum of a lane class, by index (see Sum). Behind those come, for each transfer class, the
    // waiting, the moving time of those that count it, and the waiting of those that hold up
    // compute.
    const Time* sum(std::uint32_t lane_class, std::uint32_t which) const
    {
        return sums_[lane_class].data() + which * rows_[lane_class];
    }
    Time* sum(std::uint32_t lane_class, std::uint32_t which, const Slice& lanes)
    {
        return sums_[lane_class].data() + which * rows_[lane_class] + lanes.first;
    }
    std::uint32_t waiting_sum(std::uint32_t lane_class, std::uint32_t of) const
    {
        return transfer_sums_first_[lane_class] + 3 * of;
    }
    std::uint32_t waiting_sum(const Instr& collective) const
    {
        return waiting_sum(collective.lane_class, collective.extra) + (collective.holds_up ? 2 : 0);
    }
    // Calls `visit` with each sum that the instruction adds to.
    template <class Visit>
    void for_each_sum(const Instr& instr, const Visit& visit) const
    {
        const bool counts = instr.opcode == Instr::Opcode::count;
        if (counts || (instr.opcode == Instr::Opcode::collective && instr.counted))
            visit(waiting_sum(instr));
        if (counts)
            visit(waiting_sum(instr.lane_class, instr.extra) + 1);
        if (instr.opcode == Instr::Opcode::compute && instr.counted)
            visit(static_cast<std::uint32_t>(Sum::slowed));
        for (const Charge& charge : charges_of(code_, instr))
            for (const std::uint32_t into : {charge.into, charge.then_into})
                if (into != none)
                    visit(into);
    }
    // Whether all guards held.
    bool fits() const { return fits_; }

    // Selects the lanes that it executes from here on: one slice, or all.
    void select_slice(const Slice& slice);
    void select_all();
    Slice lanes(std::uint32_t lane_class) const
    {
        return sliced_ ? slice_ : Slice{0, classes_.all[lane_class].lanes.size(), none};
    }

    // The least and the greatest time of a column on the selected lanes. The value must not be
    // written again until the next call of forget_ranges.
    Extent range(Value value);
    void forget_ranges() { ++range_stamp_; }

    // Transfers of a list before `first` slow nothing.
    void ignore_overlaps_before(std::uint32_t list, std::uint32_t first) { ignored_[list] = first; }
    // The first transfer of a range that is not over on all selected lanes by `time`; its end if
    // all are.
    std::uint32_t first_after(const OverlapRange& range, Time time);
    LoadColumn load_column(const Load& load, const Slice& lanes);

    // Sets whether instructions add to sums.
    void measure(bool measured) { measured_ = measured; }
    // Executes one instruction.
    void execute(const Instr& instr);
    // Makes what a step leaves behind the inputs of the next, on all lanes.
    void carry();

private:
    void latest(const Instr& instr, const Slice& lanes);
    void run(const Instr& instr, const Slice& lanes);
    void eager_send(const Instr& instr, const Slice& lanes);
    void collective(const Instr& instr, const Slice& lanes);
    void collective_rows(const Instr& instr, const GroupClass& group_class, const Slice& lanes);
    void collective_members(const Instr& instr, const GroupClass& group_class, const Slice& lanes);
    void message(const Instr& instr, const Slice& lanes);
    void permuted_message(const Instr& instr, const Slice& lanes);
    void eager_receive(const Instr& instr, const Slice& lanes);
    void count(const Instr& instr, const Slice& lanes);
    void compute(const Instr& instr, const Slice& lanes);
    void slow(const Instr& instr, const Slice& lanes);
    void drain(const Instr& instr, const Slice& lanes);
    void drain_keeping_left(const Instr& instr, const Slice& lanes);
    Drained drain_one(Time from, u128 work, std::size_t lane, Time opened);
    bool add_overlaps(const Instr& instr, Time last);
    void charge(const Instr& instr, const Slice& lanes);
    static bool is_transfer(std::span<const Charge> charges);
    void charge_group(const Instr& instr, std::span<const Charge> charges, const Slice& lanes,
                      std::size_t lane, Time& until);
    void guard(const Instr& instr, const Slice& lanes);
    std::span<const Time* const> columns_read(const Instr& instr, const Slice& lanes);
    StartBounds begin(const Instr& instr, const Slice& lanes);
    void count_waiting(const Instr& instr, const Time* begin, const Time* begin_there,
                       const Slice& lanes);
    IssueSpan start_issue(const Instr& instr, const Slice& lanes);
    IssueSpan end_issue(const Instr& instr, const Slice& lanes);

    Time* read(const Instr& instr, std::uint32_t i, const Slice& lanes)
    {
        return at(code_.reads[instr.read_first + i], lanes);
    }
    Time* write(const Instr& instr, std::uint32_t i, const Slice& lanes)
    {
        return at(instr.write_first + i, lanes);
    }

    const LaneClasses& classes_;
    const StepCode& code_;
    Tables& tables_;
    const Kernels& kernels_;
    static constexpr std::uint32_t in_slice = 1U << 31;

    std::vector<std::size_t> rows_; // by lane class
    std::vector<std::uint32_t>
        lines_;      // by value: in columns_, or from in_slice on in slice_columns_
    Column columns_; // of all lane classes
    Column slice_columns_;
    std::vector<Column> sums_;                       // by lane class
    std::vector<std::uint32_t> transfer_sums_first_; // likewise: the first of a class of transfers
    Slice slice_;
    bool sliced_ = false;
    bool measured_ = false;
    Column scratch_;
    std::vector<const Time*> from_;           // what the instruction at hand reads
    std::vector<Extent> ranges_;              // by value
    std::vector<std::uint32_t> range_stamps_; // of what is in ranges_
    std::uint32_t range_stamp_ = 1;
    std::vector<std::uint32_t> ignored_;      // by list of overlapping transfers: before which
    std::vector<std::uint32_t> next_overlap_; // by range of the compute at hand: up to which
    std::vector<const Load*> near_loads_;     // what may slow it
    std::vector<LoadColumn> load_columns_;    // of these
    std::vector<BlockLoad> block_loads_;
    std::vector<LoadSpan> spans_; // likewise, of one lane
    bool fits_ = true;
};

} // namespace trainyard::engine::replay
