#pragma once

// Rates from a few steps: the most probable ones, given what is believed of them before.

#include "sim/study/own_steps/rate_responses.h"

#include <functional>

namespace trainyard {

struct RateFitOptions {
    // Standard deviations of a step's logarithm: of its measurement, and of what no rate explains
    // (kernels at odd sizes, waits). The 22 steps of the B200 node lie 2 % (mean) from a fit to all
    // of them.
    double step_noise = 0.01;
    double unexplained = 0.04;
};

// Encoders and CNNs leave twice as much unexplained: with as much as decoders, intervals after one
// own step hold 79 % of BERT's like runs.
RateFitOptions fit_options(ModelClass model_class);
// Of the class that leaves most.
RateFitOptions fit_options(const MeasuredSteps& steps);

// Changes that minimise
//
//   sum over steps of (log(measured / T(x)) / sigma)^2  +  sum over rates of (x_k / prior_k)^2
//
// with sigma^2 = step_noise^2 + unexplained^2, by Gauss and Newton, within the limits: a rate that
// the squares pull beyond one is held there and the others are solved. `responses` are simulated at
// `around` (empty: no change). A rate that no step feels stays where it is. The covariance is that
// of the squares' curvature at what was found, of a rate at its limit too.
RateFit fit_rates(std::span<const StepResponse> responses, std::span<const double> log_measured,
                  std::span<const double> prior, const RateLimits& limits,
                  const RateFitOptions& options = {}, std::span<const double> around = {});

// The same through the simulator: responses are simulated again at what was found, until the rates
// stay within 0.1 %. Residuals are those of steps simulated at the changes. A rate of which the
// steps as stated tell next to nothing is not changed.
using SimulatedResponses =
    std::function<Checked<std::vector<StepResponse>>(const std::vector<double>& rates)>;
Checked<RateFit> fit_rates(const SimulatedResponses& simulated,
                           std::span<const double> log_measured, std::span<const double> prior,
                           RateLimits limits, const RateFitOptions& options = {});
Checked<RateFit> fit_rates(const MeasuredSteps& steps, RateTrials& trials,
                           const RateFitOptions& options = {}, const WorkControl& work = {});

// Variance of a step's logarithm under the rates' covariance.
double variance_of(std::span<const double> slopes, std::span<const std::vector<double>> covariance);

} // namespace trainyard
