#include "sim/study/own_steps/step_findings.h"

#include <array>
#include <cmath>
#include <span>

namespace trainyard {
namespace {

constexpr double too_far = 3; // standard deviations
// Of a rate's logarithm: 100 times slower, less where the profile's fields do not reach so far.
constexpr std::array slowest{-4.6, -3.4, -2.2, -0.7};
constexpr std::array fastest{1.4, 0.7, 0.2}; // 4 times faster, likewise

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
// longer with a faster rate. Nothing where none within the bounds does, of the rate or of the
// profile's fields.
std::optional<double> change_that_explains(RateTrials& trials, const ScenarioFile& question,
                                           std::vector<double> rates, std::size_t rate,
                                           double wanted)
{
    const auto takes_longer = [&](double change) -> std::optional<bool> {
        rates[rate] = change;
        const Checked<double> time = trials.time(question, rates);
        return time ? std::optional<bool>(std::log(*time) > wanted) : std::nullopt;
    };
    const double here = rates[rate];
    const std::optional<bool> longer = takes_longer(here);
    if (!longer)
        return std::nullopt;
    for (const double bound :
         *longer ? std::span<const double>(fastest) : std::span<const double>(slowest))
    {
        const std::optional<bool> beyond = takes_longer(here + bound);
        if (!beyond || *beyond == *longer)
            continue;
        double slow = *longer ? here : here + bound;
        double fast = *longer ? here + bound : here;
        for (int round = 0; round < 12; ++round) {
            const double middle = (slow + fast) / 2;
            const std::optional<bool> middle_longer = takes_longer(middle);
            if (!middle_longer)
                return std::nullopt;
            (*middle_longer ? slow : fast) = middle;
        }
        return (slow + fast) / 2;
    }
    return std::nullopt;
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
            const std::optional<double> change =
                change_that_explains(trials, step.question, others.changes, k, wanted);
            if (!change)
                continue;
            const double distance = std::abs(*change - others.changes[k]) / others.spread[k];
            if (found.explained && distance >= least)
                continue;
            found.explained = true;
            found.rate = k;
            found.slower = std::exp(-*change);
            least = distance;
        }
        out.push_back(found);
    }
    return out;
}

} // namespace trainyard
