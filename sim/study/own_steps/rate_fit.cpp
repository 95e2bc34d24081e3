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
            std::span<const double> prior, const RateLimits& limits, std::span<const double> around,
            double sigma)
        : responses_(responses),
          log_measured_(log_measured),
          prior_(vector_of(prior)),
          lowest_(vector_of(limits.lowest)),
          highest_(vector_of(limits.highest)),
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
        Vector x = within(around_);
        for (int round = 0; round < 100; ++round) {
            const Vector whole = move_from(x);
            Vector move = whole * part_within(x, whole);
            while (cost(x + move) > cost(x) && move.cwiseAbs().maxCoeff() > 1e-9)
                move /= 2;
            x = within(x + move);
            if (move.cwiseAbs().maxCoeff() < 1e-7)
                break;
        }
        return x;
    }

private:
    Vector within(const Vector& x) const { return x.cwiseMax(lowest_).cwiseMin(highest_); }

    bool leaves(const Vector& x, const Vector& move, Eigen::Index k) const
    {
        constexpr double touching = 1e-9;
        return (move[k] > 0 && x[k] > highest_[k] - touching) ||
               (move[k] < 0 && x[k] < lowest_[k] + touching);
    }

    // That of the rates which are not held: one at its limit is where the squares' slope or the
    // others' move takes it beyond.
    Vector move_from(const Vector& x) const
    {
        Vector downhill = slopes(x).transpose() * residuals(x) / (sigma_ * sigma_) -
                          x.cwiseQuotient(prior_.cwiseAbs2());
        Matrix curvature = information(x);
        const auto hold_leaving = [&](const Vector& move) {
            bool any = false;
            for (Eigen::Index k = 0; k < x.size(); ++k)
                if (leaves(x, move, k)) {
                    any = true;
                    curvature.row(k).setZero();
                    curvature.col(k).setZero();
                    curvature(k, k) = 1;
                    downhill[k] = 0;
                }
            return any;
        };
        hold_leaving(downhill);
        Vector move = curvature.ldlt().solve(downhill);
        while (hold_leaving(move))
            move = curvature.ldlt().solve(downhill);
        return move;
    }

    // How much of a move there is room for.
    double part_within(const Vector& x, const Vector& move) const
    {
        double part = 1;
        for (Eigen::Index k = 0; k < x.size(); ++k)
            if (move[k] != 0)
                part = std::min(part, ((move[k] > 0 ? highest_ : lowest_)[k] - x[k]) / move[k]);
        return part;
    }

    std::span<const StepResponse> responses_;
    std::span<const double> log_measured_;
    Vector prior_;
    Vector lowest_;
    Vector highest_;
    Vector around_;
    double sigma_;
};

// What the steps tell at these rates.
RateFit fit_at(const Problem& problem, const Vector& x, std::span<const StepResponse> responses,
               std::span<const double> prior, const RateLimits& limits,
               const RateFitOptions& options)
{
    const Matrix covariance =
        problem.information(x).ldlt().solve(Matrix::Identity(x.size(), x.size()));
    RateFit out;
    out.changes = list_of(x);
    out.limits = limits;
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

double sigma_of(const RateFitOptions& options)
{
    return std::hypot(options.step_noise, options.unexplained);
}

} // namespace

RateFitOptions fit_options(ModelClass model_class)
{
    RateFitOptions out;
    if (model_class == ModelClass::other)
        out.unexplained *= 2;
    return out;
}

RateFitOptions fit_options(const MeasuredSteps& steps)
{
    RateFitOptions out;
    for (const MeasuredStep& step : steps.steps)
        out.unexplained = std::max(out.unexplained, fit_options(step.model_class).unexplained);
    return out;
}

double RateFit::learnt(std::size_t rate) const
{
    return 1 - spread[rate] * spread[rate] / (prior[rate] * prior[rate]);
}

bool RateFit::felt(std::size_t rate) const
{
    return learnt(rate) >= 0.01;
}

bool RateFit::at_limit(std::size_t rate) const
{
    constexpr double touching = 1e-6;
    return felt(rate) && limits.highest[rate] > limits.lowest[rate] &&
           (changes[rate] > limits.highest[rate] - touching ||
            changes[rate] < limits.lowest[rate] + touching);
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
                  std::span<const double> prior, const RateLimits& limits,
                  const RateFitOptions& options, std::span<const double> around)
{
    const Problem problem(responses, log_measured, prior, limits, around, sigma_of(options));
    return fit_at(problem, problem.solution(), responses, prior, limits, options);
}

namespace {

// Rates on the way to the most probable ones, with the responses there.
class SimulatedFit {
public:
    SimulatedFit(const SimulatedResponses& simulated, std::span<const double> log_measured,
                 std::span<const double> prior, RateLimits limits, const RateFitOptions& options)
        : simulated_(simulated),
          log_measured_(log_measured),
          prior_(prior),
          limits_(std::move(limits)),
          options_(options),
          rates_(prior.size(), 0.0)
    {}

    Checked<RateFit> found()
    {
        Checked<std::vector<StepResponse>> here = simulated_(rates_);
        if (!here)
            return tl::unexpected(here.error());
        responses_ = std::move(*here);
        hold_unfelt();
        constexpr int rounds = 8;
        for (int round = 0; round < rounds; ++round) {
            const Checked<bool> closer = move_to(solved().changes);
            if (!closer)
                return tl::unexpected(closer.error());
            if (!*closer)
                break;
        }
        return fit_at(problem(responses_, rates_), vector_of(rates_), responses_, prior_, limits_,
                      options_);
    }

private:
    Problem problem(std::span<const StepResponse> responses, std::span<const double> at) const
    {
        return {responses, log_measured_, prior_, limits_, at, sigma_of(options_)};
    }

    RateFit solved() const
    {
        return fit_rates(responses_, log_measured_, prior_, limits_, options_, rates_);
    }

    double cost(std::span<const StepResponse> responses, std::span<const double> at) const
    {
        return problem(responses, at).cost(vector_of(at));
    }

    void hold_unfelt()
    {
        const RateFit fit = solved();
        for (std::size_t k = 0; k < prior_.size(); ++k)
            if (!fit.felt(k))
                limits_.lowest[k] = limits_.highest[k] = 0;
    }

    // Half of the way, and half of that, where the steps are further off there than here. False
    // where there is nothing to gain.
    Checked<bool> move_to(std::vector<double> next)
    {
        double move = 0;
        for (std::size_t k = 0; k < next.size(); ++k)
            move = std::max(move, std::abs(next[k] - rates_[k]));
        const double before = cost(responses_, rates_);
        for (; move > 0.001; move /= 2) {
            Checked<std::vector<StepResponse>> there = simulated_(next);
            if (!there)
                return tl::unexpected(there.error());
            if (cost(*there, next) < before) {
                rates_ = std::move(next);
                responses_ = std::move(*there);
                return true;
            }
            for (std::size_t k = 0; k < next.size(); ++k)
                next[k] = (next[k] + rates_[k]) / 2;
        }
        return false;
    }

    const SimulatedResponses& simulated_;
    std::span<const double> log_measured_;
    std::span<const double> prior_;
    RateLimits limits_;
    const RateFitOptions& options_;
    std::vector<double> rates_;
    std::vector<StepResponse> responses_;
};

} // namespace

Checked<RateFit> fit_rates(const SimulatedResponses& simulated,
                           std::span<const double> log_measured, std::span<const double> prior,
                           RateLimits limits, const RateFitOptions& options)
{
    return SimulatedFit(simulated, log_measured, prior, std::move(limits), options).found();
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
    return fit_rates(simulated, measured, prior, trials.limits(), options);
}

} // namespace trainyard
