#pragma once

// How wrong a fit is: relative errors by size band, in sample and on what it did not see.

#include "calibrate/fit/clean_sweep.h"
#include "calibrate/fit/order_statistics.h"
#include "calibrate/fit/size_band.h"
#include "sim/cost/knots.h"

#include <span>

namespace trainyard {

// Sums of absolute relative errors; a mean is a share (0.04 is 4 %).
class ErrorTally {
public:
    void add(Bytes size, double relative_error);
    void add(const ErrorTally& other);

    int count() const;
    int count(SizeBand band) const { return count_[index_of(band)]; }
    double mean() const; // 0 without errors
    double mean(SizeBand band) const;

    bool operator==(const ErrorTally&) const = default;

private:
    std::array<double, 4> sum_{};
    std::array<int, 4> count_{};
};

// |fit / measured - 1| of every point.
ErrorTally in_sample_errors(const KnotCurve& curve, std::span<const TimedSize> points);

// Fitted / measured - 1 at one size.
struct Residual {
    Bytes size;
    double error = 0;

    bool operator==(const Residual&) const = default;
};

// Each interior size in turn left out, the curve fitted to the others, and asked for it. Nothing
// below three points.
std::vector<Residual> leave_one_out(std::span<const TimedSize> points);
ErrorTally leave_one_out_errors(std::span<const TimedSize> points);
ErrorTally tally(std::span<const Residual> residuals);

// Where a measurement of `size` would lie nine times of ten, in seconds: 2.06 times the mean error
// at sizes left out of its band (of a normal distribution: 1.645 / 0.798), and no less than
// run-to-run noise, around the curve. Requires a knot.
Interval prediction_interval(const KnotCurve& curve, const ErrorTally& left_out, Bytes size);

// `others` fitted, asked for the sizes of `points` that lie within theirs.
ErrorTally held_out_errors(std::span<const TimedSize> points, std::span<const TimedSize> others);

} // namespace trainyard
