#include "calibrate/fit/errors.h"

#include "calibrate/fit/curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {
namespace {

double relative_error(const KnotCurve& curve, const TimedSize& point)
{
    return time_at(curve, point.size) / point.time - 1;
}

} // namespace

void ErrorTally::add(Bytes size, double relative_error)
{
    const std::size_t band = index_of(band_of(size));
    sum_[band] += std::abs(relative_error);
    ++count_[band];
}

void ErrorTally::add(const ErrorTally& other)
{
    for (std::size_t band = 0; band < sum_.size(); ++band) {
        sum_[band] += other.sum_[band];
        count_[band] += other.count_[band];
    }
}

int ErrorTally::count() const
{
    return std::accumulate(count_.begin(), count_.end(), 0);
}

double ErrorTally::mean() const
{
    return count() > 0 ? std::accumulate(sum_.begin(), sum_.end(), 0.0) / count() : 0;
}

double ErrorTally::mean(SizeBand band) const
{
    const std::size_t index = index_of(band);
    return count_[index] > 0 ? sum_[index] / count_[index] : 0;
}

ErrorTally in_sample_errors(const KnotCurve& curve, std::span<const TimedSize> points)
{
    ErrorTally out;
    for (const TimedSize& point : points)
        out.add(point.size, relative_error(curve, point));
    return out;
}

std::vector<Residual> leave_one_out(std::span<const TimedSize> points)
{
    std::vector<Residual> out;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        std::vector<TimedSize> others(points.begin(), points.end());
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        out.push_back({points[i].size, relative_error(fit_curve(others), points[i])});
    }
    return out;
}

ErrorTally leave_one_out_errors(std::span<const TimedSize> points)
{
    return tally(leave_one_out(points));
}

ErrorTally tally(std::span<const Residual> residuals)
{
    ErrorTally out;
    for (const Residual& residual : residuals)
        out.add(residual.size, residual.error);
    return out;
}

Interval prediction_interval(const KnotCurve& curve, const ErrorTally& left_out, Bytes size)
{
    constexpr double mean_to_90 = 2.06;
    const double time = time_at(curve, size).value();
    const double share = mean_to_90 * std::max(left_out.mean(band_of(size)), noise_floor(size));
    return {time / (1 + share), time * (1 + share)};
}

ErrorTally held_out_errors(std::span<const TimedSize> points, std::span<const TimedSize> others)
{
    ErrorTally out;
    if (others.empty())
        return out;
    const KnotCurve curve = fit_curve(others);
    for (const TimedSize& point : points)
        if (point.size >= others.front().size && point.size <= others.back().size)
            out.add(point.size, relative_error(curve, point));
    return out;
}

} // namespace trainyard
