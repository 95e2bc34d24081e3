#include "sim/study/own_steps/rate_fit.h"

#include "sim/base/progress.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// What is known of the unexplained before any own step weighs as much as so many of them.
constexpr double known_before = 3;

Vector vector_of(std::span<const double> values)
{
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> list_of(const Vector& values)
{
    return {values.begin(), values.end()};
}

// Student's t that 5 % lie above, for `freedom` > 2: Cornish and Fisher's expansion of the normal
// quantile z, good to 1 % there.
double student(double freedom)
{
    constexpr double z = 1.644854;
    const double cube = z * z * z;
    return z + (cube + z) / (4 * freedom) +
           (5 * cube * z * z + 16 * cube + 3 * z) / (96 * freedom * freedom);
}

// The least squares of one model of the steps.
class Problem {
public:
    Problem(std::span<const StepResponse> responses, std::span<const double> log_measured,
            std::span<const double> prior, std::span<const double> around, double sigma)
        : responses_(responses),
          log_measured_(log_measured),
          prior_(vector_of(prior)),
          around_(around.empty() ? Vector(Vector::Zero(prior_.size())) : vector_of(around)),
          sigma_(sigma)
    {}

    Vector residuals(const Vector& x) const
    {
        Vector out(static_cast<Eigen::Index>(responses_.size()));
        const std::vector<double> moved = list_of(x - around_);
        for (std::size_t i = 0; i < responses_.size(); ++i)
            out[static_cast<Eigen::Index>(i)] =
                log_measured_[i] - responses_[i].log_time - responses_[i].log_change(moved);
        return out;
    }

    Matrix slopes(const Vector& x) const
    {
        Matrix out(static_cast<Eigen::Index>(responses_.size()), x.size());
        const std::vector<double> moved = list_of(x - around_);
        for (std::size_t i = 0; i < responses_.size(); ++i)
            out.row(static_cast<Eigen::Index>(i)) = vector_of(responses_[i].slopes(moved));
        return out;
    }

    double cost(const Vector& x) const
    {
        return (residuals(x) / sigma_).squaredNorm() + x.cwiseQuotient(prior_).squaredNorm();
    }

    Matrix information(const Vector& x) const
    {
        const Matrix j = slopes(x);
        Matrix out = j.transpose() * j / (sigma_ * sigma_);
        out.diagonal() += prior_.cwiseAbs2().cwiseInverse();
        return out;
    }

    // Gauss and Newton with halved steps.
    Vector solution() const
    {
        Vector x = around_;
        for (int round = 0; round < 50; ++round) {
            const Vector downhill = slopes(x).transpose() * residuals(x) / (sigma_ * sigma_) -
                                    x.cwiseQuotient(prior_.cwiseAbs2());
            Vector move = information(x).ldlt().solve(downhill);
            while (cost(x + move) > cost(x) && move.cwiseAbs().maxCoeff() > 1e-9)
                move /= 2;
            x += move;
            if (move.cwiseAbs().maxCoeff() < 1e-7)
                break;
        }
        return x;
    }

private:
    std::span<const StepResponse> responses_;
    std::span<const double> log_measured_;
    Vector prior_;
    Vector around_;
    double sigma_;
};

} // namespace

double RateFit::learnt(std::size_t rate) const
{
    return 1 - spread[rate] * spread[rate] / (prior[rate] * prior[rate]);
}

double variance_of(std::span<const double> slopes, std::span<const std::vector<double>> covariance)
{
    double sum = 0;
    for (std::size_t i = 0; i < slopes.size(); ++i)
        for (std::size_t k = 0; k < slopes.size(); ++k)
            sum += slopes[i] * covariance[i][k] * slopes[k];
    return sum;
}

RateFit fit_rates(std::span<const StepResponse> responses, std::span<const double> log_measured,
                  std::span<const double> prior, const RateFitOptions& options,
                  std::span<const double> around)
{
    const double sigma = std::hypot(options.step_noise, options.unexplained);
    const Problem problem(responses, log_measured, prior, around, sigma);
    const Vector x = problem.solution();
    const Matrix covariance =
        problem.information(x).ldlt().solve(Matrix::Identity(x.size(), x.size()));

    RateFit out;
    out.changes = list_of(x);
    out.prior.assign(prior.begin(), prior.end());
    out.spread = list_of(covariance.diagonal().cwiseSqrt());
    for (Eigen::Index k = 0; k < x.size(); ++k)
        out.covariance.push_back(list_of(covariance.row(k)));
    out.responses.assign(responses.begin(), responses.end());
    out.residuals = list_of(problem.residuals(x));
    // What is left of the steps beyond their noise tells of the unexplained.
    const double count = static_cast<double>(responses.size());
    double left = 0;
    for (const double residual : out.residuals)
        left += residual * residual;
    out.unexplained = std::sqrt((known_before * options.unexplained * options.unexplained + left) /
                                (known_before + count));
    double rates = 0;
    const Matrix slopes = problem.slopes(x);
    for (Eigen::Index i = 0; i < slopes.rows(); ++i)
        rates += variance_of(list_of(slopes.row(i)), out.covariance) / count;
    out.reach =
        student(known_before + count) * std::sqrt(rates + out.unexplained * out.unexplained);
    return out;
}

Checked<RateFit> fit_rates(const SimulatedResponses& simulated,
                           std::span<const double> log_measured, std::span<const double> prior,
                           const RateFitOptions& options)
{
    std::vector<double> rates(prior.size(), 0.0);
    Checked<std::vector<StepResponse>> responses = simulated(rates);
    if (!responses)
        return tl::unexpected(responses.error());
    constexpr int rounds = 6;
    for (int round = 0;; ++round) {
        const RateFit fit = fit_rates(*responses, log_measured, prior, options, rates);
        double moved = 0;
        for (std::size_t k = 0; k < rates.size(); ++k)
            moved = std::max(moved, std::abs(fit.changes[k] - rates[k]));
        if (moved < 0.003 || round + 1 == rounds)
            return fit;
        // No constant goes beyond what a device can do: then half of the way, and that is the last.
        std::vector<double> next = fit.changes;
        Checked<std::vector<StepResponse>> there = simulated(next);
        const bool beyond = !there;
        for (int halved = 0; !there && halved < 8; ++halved) {
            for (std::size_t k = 0; k < next.size(); ++k)
                next[k] = (next[k] + rates[k]) / 2;
            there = simulated(next);
        }
        if (!there)
            return tl::unexpected(there.error());
        rates = next;
        responses = std::move(there);
        if (beyond) {
            RateFit last = fit_rates(*responses, log_measured, prior, options, rates);
            last.changes = rates;
            return last;
        }
    }
}

Checked<RateFit> fit_rates(const MeasuredSteps& steps, RateTrials& trials,
                           const RateFitOptions& options, const WorkControl& work)
{
    std::vector<double> prior;
    for (const OwnRate& rate : own_rates())
        prior.push_back(prior_spread(rate, trials.base()));
    std::vector<double> measured;
    for (const MeasuredStep& step : steps.steps)
        measured.push_back(std::log(step.measured.value()));
    const SimulatedResponses simulated =
        [&](const std::vector<double>& rates) -> Checked<std::vector<StepResponse>> {
        std::vector<StepResponse> responses;
        for (const MeasuredStep& step : steps.steps) {
            work.check();
            Checked<StepResponse> response = trials.response(step.question, rates);
            if (!response)
                return tl::unexpected(response.error());
            responses.push_back(std::move(*response));
        }
        return responses;
    };
    return fit_rates(simulated, measured, prior, options);
}

} // namespace trainyard
