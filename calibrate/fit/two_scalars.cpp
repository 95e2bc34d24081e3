#include "calibrate/fit/two_scalars.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double smallest_error = 0.02;   // below it all errors weigh the same
constexpr double cost_of_doubling = 0.03; // in mean error
constexpr double limit = 1000;            // of a factor

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
TwoScalars next(std::span<const OfferedTime> points, const TwoScalars& now, const Moves& moves)
{
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
    // A point in a direction that no point determines: the factor stays where it is. So does one
    // that is not to move.
    const double hold = 1e-6 * normal.trace() + 1e-300;
    const double pinned = 1e12 * normal.trace();
    const Eigen::Vector2d weight(moves.latency ? hold : pinned, moves.bandwidth ? hold : pinned);
    normal += weight.asDiagonal();
    right += weight.cwiseProduct(Eigen::Vector2d(now.latency, 1 / now.bandwidth));
    const Eigen::Vector2d solved = normal.ldlt().solve(right);
    return {std::clamp(solved(0), 1 / limit, limit), 1 / std::clamp(solved(1), 1 / limit, limit)};
}

} // namespace

TwoScalars settled(TwoScalars scalars)
{
    constexpr double hardly = 0.005;
    for (double* const factor : {&scalars.latency, &scalars.bandwidth})
        if (std::abs(std::log(*factor)) < hardly)
            *factor = 1;
    return scalars;
}

double prior_cost(const TwoScalars& scalars)
{
    return cost_of_doubling *
           (std::abs(std::log2(scalars.latency)) + std::abs(std::log2(scalars.bandwidth)));
}

double typical_ratio(std::span<const OfferedTime> points)
{
    double sum = 0;
    for (const OfferedTime& point : points)
        sum += std::log(point.measured.time.value() / offered_time(point.candidates, {}));
    return std::exp(sum / static_cast<double>(points.size()));
}

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
    // Starts are around it, so that a machine twice as slow gets factors of two.
    const double slower = typical_ratio(points);
    constexpr int turns = 30;
    for (const Moves& moves : every_move)
        for (const double latency : {0.5, 0.8, 1.2, 2.0})
            for (const double bandwidth : {0.5, 0.8, 1.2, 2.0}) {
                TwoScalars now{moves.latency ? latency * slower : 1,
                               moves.bandwidth ? bandwidth / slower : 1};
                for (int turn = 0; turn < turns; ++turn) {
                    now = next(points, now, moves);
                    const double error = mean_error(points, now) + prior_cost(now);
                    if (error < least) {
                        least = error;
                        best = now;
                    }
                }
            }
    return settled(best);
}

} // namespace trainyard
