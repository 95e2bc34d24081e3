#pragma once

// Decides what to measure next of one point, and when it is done. No clock, no back end.

#include "calibrate/measure/statistics/limits.h"

#include <optional>
#include <span>
#include <vector>

namespace trainyard {

enum class SampleKind : std::uint8_t {
    warm_up, // not kept
    timed,
    isolated // one op behind a barrier
};

// "Run so many batches of so many ops, a barrier before each."
struct Request {
    SampleKind kind = SampleKind::warm_up;
    int batches = 1;
    int ops = 1; // of each batch

    bool operator==(const Request&) const = default;
};

enum class SampleEnd : std::uint8_t {
    not_yet,
    precise,      // the interval is narrow enough
    most_batches, // as many as allowed, and it is not
    out_of_time
};

// Of one point, in one launch:
//
// 1. Warm-up. The first op is not even looked at (connections, first touch of buffers). Batches
// grow
//    until they last as long as they should; then three groups of batches, 10 ms in all or 9
//    batches, until their medians agree or time is up; what takes long to settle is looked at in
//    longer groups. The ops per batch follow from the warm-up alone, so that no timed value chooses
//    how it was taken.
// 2. Timed batches: the least number, then ten at a time until the interval of their median is
//    narrow enough, or number or time are used up (the README has what stopping so does to the
//    interval). Ops so long that three batches exceed the limit are measured three times all the
//    same.
// 3. Isolated ops, unless a batch is one op: then the timed batches are that already.
//
// Requests last about 0.25 s at most (or one batch), so that an unforeseen slowness, a cancel or a
// progress bar does not wait long; and as many batches as that allows go into one.
class Sampler {
public:
    explicit Sampler(const Limits& limits) : limits_(limits) {}

    // What to run; nothing when done. The same until it is answered.
    std::optional<Request> next() const;

    // The answer to next(): per batch the seconds per op on the slowest rank, finite and not
    // negative. Fewer values than batches are taken as lost ones, which count towards the limits.
    // `spent`: what the whole request took, barriers and messages included, where that is known.
    void add(std::span<const double> seconds_per_op, Seconds spent = Seconds(0));

    int ops_per_batch() const { return ops_; } // final once timed batches are asked for
    bool settled() const { return settled_; }  // the medians of the warm-up agreed
    SampleEnd end() const { return end_; }
    const std::vector<double>& timed() const { return timed_; }
    const std::vector<double>& isolated() const { return isolated_; }

private:
    enum class Phase : std::uint8_t { first_op, growing, settling, timing, isolating, ended };

    int affordable(int batches) const;
    int timed_wanted() const;
    void grow(double seconds_per_op);
    void settle(std::span<const double> seconds_per_op);
    void start_timing(double seconds_per_op);
    void set_ops(int ops);
    void weigh_timed();
    bool precise() const;
    bool warm_up_is_out_of_time() const;

    Limits limits_;
    Phase phase_ = Phase::first_op;
    int ops_ = 1;
    int growths_ = 0;
    double batch_ = 0;         // seconds that one batch takes, as last seen
    double warm_up_spent_ = 0; // without the first op
    int warm_up_ops_ = 0;
    std::size_t group_ = 3; // batches of a median
    int rounds_ = 0;
    std::vector<double> settling_; // at most three groups
    bool settled_ = false;
    int asked_ = 0; // timed batches
    double timed_spent_ = 0;
    std::vector<double> timed_;
    std::vector<double> isolated_;
    SampleEnd end_ = SampleEnd::not_yet;
};

} // namespace trainyard
