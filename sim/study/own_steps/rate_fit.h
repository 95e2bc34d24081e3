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

// Changes that minimise
//
//   sum over steps of (log(measured / T(x)) / sigma)^2  +  sum over rates of (x_k / prior_k)^2
//
// with sigma^2 = step_noise^2 + unexplained^2, by Gauss and Newton; `responses` are simulated at
// `around` (empty: no change). A rate that no step feels stays where it is.
RateFit fit_rates(std::span<const StepResponse> responses, std::span<const double> log_measured,
                  std::span<const double> prior, const RateFitOptions& options = {},
                  std::span<const double> around = {});

// The same through the simulator: responses are simulated again at what was found, until the rates
// stay within 0.3 %.
using SimulatedResponses =
    std::function<Checked<std::vector<StepResponse>>(const std::vector<double>& rates)>;
Checked<RateFit> fit_rates(const SimulatedResponses& simulated,
                           std::span<const double> log_measured, std::span<const double> prior,
                           const RateFitOptions& options = {});
Checked<RateFit> fit_rates(const MeasuredSteps& steps, RateTrials& trials,
                           const RateFitOptions& options = {}, const WorkControl& work = {});

// Variance of a step's logarithm under the rates' covariance.
double variance_of(std::span<const double> slopes, std::span<const std::vector<double>> covariance);

} // namespace trainyard
