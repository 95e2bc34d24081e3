#include "calibrate/fit/two_scalars.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

const CandidateTime& lowest(std::span<const CandidateTime> candidates, const TwoScalars& scalars)
{
    const auto time = [&](const CandidateTime& candidate) {
        return candidate.latency * scalars.latency + candidate.transfer / scalars.bandwidth;
    };
    return *std::min_element(
        candidates.begin(), candidates.end(),
        [&](const CandidateTime& a, const CandidateTime& b) { return time(a) < time(b); });
}

// One turn: with the candidates that are lowest now, the model is linear in L and 1 / B.
TwoScalars next(std::span<const OfferedTime> points, const TwoScalars& now)
{
    constexpr double smallest_error = 0.02; // below it all errors weigh the same
    Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
    Eigen::Vector2d right = Eigen::Vector2d::Zero();
    for (const OfferedTime& point : points) {
        const CandidateTime& candidate = lowest(point.candidates, now);
        const double measured = point.measured.time.value();
        const double error = offered_time(point.candidates, now) / measured - 1;
        const double weight = 1 / std::max(std::abs(error), smallest_error);
        const Eigen::Vector2d row(candidate.latency / measured, candidate.transfer / measured);
        normal += weight * row * row.transpose();
        right += weight * row;
    }
    // A point in a direction that no point determines: the factor stays where it is.
    const double hold = 1e-6 * normal.trace() + 1e-300;
    normal += hold * Eigen::Matrix2d::Identity();
    right += hold * Eigen::Vector2d(now.latency, 1 / now.bandwidth);
    const Eigen::Vector2d solved = normal.ldlt().solve(right);
    constexpr double limit = 20;
    return {std::clamp(solved(0), 1 / limit, limit), 1 / std::clamp(solved(1), 1 / limit, limit)};
}

// Measured over offered, geometric mean: starts are around it, so that a machine twice as slow gets
// factors of two.
double typical_ratio(std::span<const OfferedTime> points)
{
    double sum = 0;
    for (const OfferedTime& point : points)
        sum += std::log(point.measured.time.value() / offered_time(point.candidates, {}));
    return std::exp(sum / static_cast<double>(points.size()));
}

} // namespace

double offered_time(std::span<const CandidateTime> candidates, const TwoScalars& scalars)
{
    const CandidateTime& candidate = lowest(candidates, scalars);
    return candidate.latency * scalars.latency + candidate.transfer / scalars.bandwidth;
}

double mean_error(std::span<const OfferedTime> points, const TwoScalars& scalars)
{
    double sum = 0;
    for (const OfferedTime& point : points)
        sum += std::abs(offered_time(point.candidates, scalars) / point.measured.time.value() - 1);
    return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

TwoScalars fit_two_scalars(std::span<const OfferedTime> points)
{
    TwoScalars best;
    if (points.empty())
        return best;
    double least = mean_error(points, best);
    const double slower = typical_ratio(points);
    constexpr int turns = 30;
    for (const double latency : {0.5, 0.8, 1.2, 2.0})
        for (const double bandwidth : {0.5, 0.8, 1.2, 2.0}) {
            TwoScalars now{latency * slower, bandwidth / slower};
            for (int turn = 0; turn < turns; ++turn) {
                now = next(points, now);
                const double error = mean_error(points, now);
                if (error < least) {
                    least = error;
                    best = now;
                }
            }
        }
    return best;
}

} // namespace trainyard
