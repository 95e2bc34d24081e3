#include "sim/study/own_steps/step_findings.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double too_far = 3;                // standard deviations
const double slowest = -std::log(100.0); // of a rate's logarithm
const double fastest = std::log(4.0);

// The steps without one of them.
RateFit fit_to_others(const RateFit& fit, const MeasuredSteps& steps, std::size_t without,
                      const RateFitOptions& options)
{
    std::vector<StepResponse> responses;
    std::vector<double> measured;
    for (std::size_t i = 0; i < steps.steps.size(); ++i)
        if (i != without) {
            responses.push_back(fit.responses[i]);
            measured.push_back(std::log(steps.steps[i].measured.value()));
        }
    return fit_rates(responses, measured, fit.prior, options, fit.changes);
}

// How likely the step is, were it not measured: its error in standard deviations.
double surprise(const RateFit& others, const StepResponse& response, double error,
                const RateFitOptions& options)
{
    const std::vector<double> none(others.changes.size(), 0.0);
    const double variance = variance_of(response.slopes(none), others.covariance) +
                            options.unexplained * options.unexplained +
                            options.step_noise * options.step_noise;
    return std::abs(error) / std::sqrt(variance);
}

// The change of one rate at which the step takes `wanted` (log s), by bisection: a step never takes
// longer with a faster rate. Nothing where none between the bounds does.
Checked<std::optional<double>> change_that_explains(RateTrials& trials,
                                                    const ScenarioFile& question,
                                                    std::vector<double> rates, std::size_t rate,
                                                    double wanted)
{
    const auto log_time = [&](double change) -> Checked<double> {
        rates[rate] = change;
        const Checked<double> time = trials.time(question, rates);
        if (!time)
            return tl::unexpected(time.error());
        return std::log(*time);
    };
    double slow = slowest;
    double fast = fastest;
    const Checked<double> most = log_time(slow);
    const Checked<double> least = log_time(fast);
    if (!most)
        return tl::unexpected(most.error());
    if (!least)
        return tl::unexpected(least.error());
    if (*most < wanted || *least > wanted)
        return std::optional<double>();
    for (int round = 0; round < 12; ++round) {
        const double middle = (slow + fast) / 2;
        const Checked<double> time = log_time(middle);
        if (!time)
            return tl::unexpected(time.error());
        (*time > wanted ? slow : fast) = middle;
    }
    return std::optional<double>((slow + fast) / 2);
}

} // namespace

Checked<std::vector<StepContradiction>> step_contradictions(const MeasuredSteps& steps,
                                                            const RateFit& fit, RateTrials& trials,
                                                            const RateFitOptions& options,
                                                            const WorkControl& work)
{
    std::vector<StepContradiction> out;
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const MeasuredStep& step = steps.steps[i];
        const RateFit others = fit_to_others(fit, steps, i, options);
        const Checked<StepResponse> response = trials.response(step.question, others.changes);
        if (!response)
            return tl::unexpected(response.error());
        const double wanted = std::log(step.measured.value());
        const double error = wanted - response->log_time;
        if (surprise(others, *response, error, options) <= too_far)
            continue;
        StepContradiction found{.step = step.id, .error = std::expm1(error)};
        double least = 0;
        for (std::size_t k = 0; k < own_rates().size(); ++k) {
            work.check();
            if (!stands_in(own_rates()[k], trials.base()))
                continue;
            const auto change =
                change_that_explains(trials, step.question, others.changes, k, wanted);
            if (!change)
                return tl::unexpected(change.error());
            const double distance =
                *change ? std::abs(**change - others.changes[k]) / others.spread[k] : 0;
            if (!*change || (found.explained && distance >= least))
                continue;
            found.explained = true;
            found.rate = k;
            found.slower = std::exp(-**change);
            least = distance;
        }
        out.push_back(found);
    }
    return out;
}

} // namespace trainyard
