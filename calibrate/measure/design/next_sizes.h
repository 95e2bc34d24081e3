#pragma once

// Which sizes of one configuration to measure: a coarse grid, then more where the fit is wrong.

#include "sim/cost/knots.h"

#include <span>
#include <vector>

namespace trainyard {

struct SizeRange {
    Bytes first{512};
    Bytes last{std::uint64_t{512} << 20};
    Bytes step{4};          // sizes are multiples of it: element bytes, times ranks where each rank
                            // has a share
    double ratio = 4;       // of neighbouring sizes
    double dense_ratio = 2; // of those between 1 and 16 MiB, where algorithms switch

    bool operator==(const SizeRange&) const = default;
};

// The grid: `first` (rounded up to a step) times `ratio` again and again, through 1 MiB, and `last`
// (rounded down). Sizes grow; at least one. No two are closer than a factor of 1.2, unless the
// range is narrower than that.
std::vector<Bytes> starting_sizes(const SizeRange& range);

struct LoopGoal {
    double miss = 0.05;  // of a prediction that is good enough, as a share of the time
    double finest = 1.4; // sizes closer than this factor are not asked for

    bool operator==(const LoopGoal&) const = default;
};

// Sizes between which a prediction missed.
struct SizeGap {
    Bytes from;
    Bytes to;
    double miss =
        0; // as a share of the time, at one end or in the middle of the gap it was part of

    bool operator==(const SizeGap&) const = default;
};

// The closed loop of one configuration.
//
// A gap between two measured sizes is open where the curve fitted to all other sizes misses an end
// by more than the goal (and by more than the intervals of the times concerned explain), and where
// there are but two sizes. Open gaps are measured in their geometric middle, aligned to steps. If
// the curve without what is inside the gap predicts that, the gap is closed, else both its halves
// are open. The worst first, gaps that touch 1-16 MiB counting twice.
//
// A size is asked for once, even if nothing comes back for it; every answer halves a gap, and gaps
// end at `finest`: so the loop ends. A gap of a factor of 4 takes at most 3 sizes.
class SizeLoop {
public:
    SizeLoop(Bytes step, const LoopGoal& goal) : step_(step), goal_(goal) {}

    // The sizes to measure next, at most so many (by time left, or so that results of some are seen
    // before others are asked for); none: done, or none allowed. `measured`: everything so far, one
    // per size, in any order; low and high are the interval of the median.
    std::vector<Bytes> next(std::span<const Knot> measured, std::size_t at_most);

    // Gaps in which the goal is not known to be met: not yet asked for, and too narrow to split (a
    // jump of the times lies in one of them).
    std::vector<SizeGap> unresolved() const;

private:
    void open_by_left_out(std::span<const Knot> sorted);
    void look_at_answers(std::span<const Knot> sorted);
    void split(const SizeGap& gap, const Knot& at, std::span<const Knot> sorted);
    void open(const SizeGap& gap, std::span<const Knot> sorted);
    Bytes middle(const SizeGap& gap) const;

    Bytes step_;
    LoopGoal goal_;
    bool started_ = false;
    std::vector<SizeGap> open_;
    std::vector<SizeGap> asked_;  // whose middle was asked for last
    std::vector<SizeGap> narrow_; // cannot be split
};

} // namespace trainyard
