#pragma once

// Plays a tape, on all lanes or on a slice of them.

#include "sim/engine/replay/composed.h"
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

class Player {
public:
    Player(const Cohorts& cohorts, const Composed& composed, Tables& tables,
           const Kernels& kernels);

    const Kernels& kernels() const { return kernels_; }

    // Column of a value that outlives slices, by index of its cohort.
    Time* column(Value value) { return columns_.data() + line_lanes * lines_[value]; }
    // The same of any value from the first of its lanes on.
    Time* at(Value value, const Slice& lanes)
    {
        const std::uint32_t line = lines_[value];
        return line >= in_slice ? slice_columns_.data() + line_lanes * (line - in_slice)
                                : columns_.data() + line_lanes * line + lanes.first;
    }
    // Sum of a cohort by index (see charges.h); behind these, for each class of transfers, waiting,
    // moving of those that count it, and waiting of those that hold up compute.
    const Time* sum(std::uint32_t cohort, std::uint32_t which) const
    {
        return sums_[cohort].data() + which * rows_[cohort];
    }
    Time* sum(std::uint32_t cohort, std::uint32_t which, const Slice& lanes)
    {
        return sums_[cohort].data() + which * rows_[cohort] + lanes.first;
    }
    std::uint32_t waiting_sum(std::uint32_t cohort, std::uint32_t of) const
    {
        return totals_first_[cohort] + 3 * of;
    }
    std::uint32_t waiting_sum(const Instr& gather) const
    {
        return waiting_sum(gather.cohort, gather.extra) + (gather.holds_up ? 2 : 0);
    }
    // Calls with each sum that the instruction adds to.
    template <class Visit>
    void for_each_sum(const Instr& instr, const Visit& visit) const
    {
        const bool counts = instr.code == Instr::Code::count;
        if (counts || (instr.code == Instr::Code::gather && instr.counted))
            visit(waiting_sum(instr));
        if (counts)
            visit(waiting_sum(instr.cohort, instr.extra) + 1);
        if (instr.code == Instr::Code::compute && instr.counted)
            visit(static_cast<std::uint32_t>(Sum::slowed));
        for (const Charge& charge : charges_of(tape_, instr))
            for (const std::uint32_t into : {charge.into, charge.then_into})
                if (into != none)
                    visit(into);
    }
    // Whether all guards held.
    bool fits() const { return fits_; }

    // From here on plays, and means by its lanes, only the slice, or all.
    void take_slice(const Slice& slice);
    void take_all();
    Slice lanes(std::uint32_t cohort) const
    {
        return sliced_ ? slice_ : Slice{0, cohorts_.all[cohort].lanes.size(), none};
    }

    // The least and the greatest of a column on its lanes; of values that are not written again
    // until the next call of forget_ranges.
    Extent range(Value value);
    void forget_ranges() { ++range_stamp_; }

    // Of a list, those before do not slow anything.
    void ignore_rivals_before(std::uint32_t list, std::uint32_t first) { ignored_[list] = first; }
    // Of a range, the first that is not over on all its lanes by `time`; its end if all are.
    std::uint32_t first_after(const RivalRange& range, Time time);
    LoadColumn load_column(const Load& load, const Slice& lanes);

    // Whether instructions count what they do.
    void measure(bool measured) { measured_ = measured; }
    // One instruction after the other.
    void play(const Instr& instr);
    // What a step leaves behind comes in to the next; on all lanes.
    void carry();

private:
    void latest(const Instr& instr, const Slice& lanes);
    void run(const Instr& instr, const Slice& lanes);
    void send(const Instr& instr, const Slice& lanes);
    void gather(const Instr& instr, const Slice& lanes);
    void gather_rows(const Instr& instr, const Meeting& meeting, const Slice& lanes);
    void gather_seats(const Instr& instr, const Meeting& meeting, const Slice& lanes);
    void pass(const Instr& instr, const Slice& lanes);
    void pass_over(const Instr& instr, const Slice& lanes);
    void take(const Instr& instr, const Slice& lanes);
    void count(const Instr& instr, const Slice& lanes);
    void compute(const Instr& instr, const Slice& lanes);
    void slow(const Instr& instr, const Slice& lanes);
    void drain(const Instr& instr, const Slice& lanes);
    void drain_keeping_left(const Instr& instr, const Slice& lanes);
    Drained drain_one(Time from, u128 work, std::size_t lane, Time opened);
    bool add_beside(const Instr& instr, Time last);
    void charge(const Instr& instr, const Slice& lanes);
    static bool is_transfer(std::span<const Charge> charges);
    void charge_group(const Instr& instr, std::span<const Charge> charges, const Slice& lanes,
                      std::size_t lane, Time& until);
    void guard(const Instr& instr, const Slice& lanes);
    std::span<const Time* const> columns_read(const Instr& instr, const Slice& lanes);
    Begun begin(const Instr& instr, const Slice& lanes);
    void count_waiting(const Instr& instr, const Time* begin, const Time* begin_there,
                       const Slice& lanes);
    IssueSpan start_issue(const Instr& instr, const Slice& lanes);
    IssueSpan end_issue(const Instr& instr, const Slice& lanes);

    Time* read(const Instr& instr, std::uint32_t i, const Slice& lanes)
    {
        return at(tape_.reads[instr.read_first + i], lanes);
    }
    Time* write(const Instr& instr, std::uint32_t i, const Slice& lanes)
    {
        return at(instr.write_first + i, lanes);
    }

    const Cohorts& cohorts_;
    const Tape& tape_;
    Tables& tables_;
    const Kernels& kernels_;
    static constexpr std::uint32_t in_slice = 1U << 31;

    std::vector<std::size_t> rows_; // by cohort
    std::vector<std::uint32_t>
        lines_;      // by value: in columns_, or from in_slice on in slice_columns_
    Column columns_; // of all cohorts
    Column slice_columns_;
    std::vector<Column> sums_;                // by cohort
    std::vector<std::uint32_t> totals_first_; // likewise: the first of a class of transfers
    Slice slice_;
    bool sliced_ = false;
    bool measured_ = false;
    Column scratch_;
    std::vector<const Time*> from_;           // what the instruction at hand reads
    std::vector<Extent> ranges_;              // by value
    std::vector<std::uint32_t> range_stamps_; // of what is in ranges_
    std::uint32_t range_stamp_ = 1;
    std::vector<std::uint32_t> ignored_;   // by list of rivals: before which
    std::vector<std::uint32_t> beside_;    // by range of the compute at hand: up to which
    std::vector<const Load*> near_;        // what may slow it
    std::vector<LoadColumn> load_columns_; // of these
    std::vector<BlockLoad> block_loads_;
    std::vector<LoadSpan> spans_; // likewise, of one lane
    bool fits_ = true;
};

} // namespace trainyard::engine::replay
