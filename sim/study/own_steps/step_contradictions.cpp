#include "sim/study/own_steps/step_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace trainyard {
namespace {

constexpr double too_far = 3; // standard deviations
// Of a rate's logarithm: twice as fast, less where the profile's fields do not reach so far.
constexpr std::array fastest{0.7, 0.4, 0.1};
// As slow as it may be, likewise: parts of that logarithm.
constexpr std::array parts_of_slowest{1.0, 0.75, 0.5, 0.15};

RateFit fit_to(const RateFit& fit, const MeasuredSteps& steps, std::span<const std::size_t> kept,
               const RateFitOptions& options)
{
    std::vector<StepResponse> responses;
    std::vector<double> measured;
    for (const std::size_t i : kept) {
        responses.push_back(fit.responses[i]);
        measured.push_back(std::log(steps.steps[i].measured.value()));
    }
    return fit_rates(responses, measured, fit.prior, fit.limits, options, fit.changes);
}

std::vector<std::size_t> without(std::span<const std::size_t> kept, std::size_t step)
{
    std::vector<std::size_t> others(kept.begin(), kept.end());
    std::erase(others, step);
    return others;
}

// What the fit minimised.
double misfit(const RateFit& fit, const RateFitOptions& options)
{
    const double variance =
        options.unexplained * options.unexplained + options.step_noise * options.step_noise;
    double sum = 0;
    for (const double residual : fit.residuals)
        sum += residual * residual / variance;
    for (std::size_t k = 0; k < fit.changes.size(); ++k)
        if (fit.prior[k] > 0)
            sum += fit.changes[k] * fit.changes[k] / (fit.prior[k] * fit.prior[k]);
    return sum;
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
    std::vector<double> bounds;
    if (*longer)
        bounds.assign(fastest.begin(), fastest.end());
    else
        for (const double part : parts_of_slowest)
            bounds.push_back(-part * std::log(own_rates()[rate].most_slow));
    for (const double bound : bounds) {
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

// A step that a fit to others does not expect.
struct Surprise {
    double error = 0;  // log(measured / expected)
    bool much = false; // by too many standard deviations
};

class ContradictionSearch {
public:
    ContradictionSearch(const MeasuredSteps& steps, const RateFit& fit, RateTrials& trials,
                        const RateFitOptions& options)
        : steps_(steps), fit_(fit), trials_(trials), options_(options)
    {}

    // Takes out the surprising step without which the rest agrees best, until none surprises.
    Checked<std::vector<std::size_t>> agreeing() const
    {
        std::vector<std::size_t> kept(steps_.steps.size());
        std::iota(kept.begin(), kept.end(), std::size_t{0});
        while (kept.size() > 1) {
            std::optional<std::size_t> worst;
            double least = 0;
            for (const std::size_t i : kept) {
                const RateFit others = fit_to(fit_, steps_, without(kept, i), options_);
                const Checked<Surprise> found = surprise_of(i, others);
                if (!found)
                    return tl::unexpected(found.error());
                const double left = misfit(others, options_);
                if (found->much && (!worst || left < least)) {
                    worst = i;
                    least = left;
                }
            }
            if (!worst)
                break;
            kept = without(kept, *worst);
        }
        return kept;
    }

    Checked<Surprise> surprise_of(std::size_t i, const RateFit& others) const
    {
        const MeasuredStep& step = steps_.steps[i];
        const Checked<StepResponse> response = trials_.response(step.question, others.changes);
        if (!response)
            return tl::unexpected(response.error());
        const double error = std::log(step.measured.value()) - response->log_time;
        return Surprise{error, surprise(others, *response, error, options_) > too_far};
    }

    // `kept`: the steps that `others` was fitted to.
    StepContradiction explained(std::size_t i, double error, const RateFit& others,
                                std::span<const std::size_t> kept, const WorkControl& work) const
    {
        const MeasuredStep& step = steps_.steps[i];
        StepContradiction found{.step = step.id, .error = std::expm1(error)};
        double least = 0;
        for (std::size_t k = 0; k < own_rates().size(); ++k) {
            work.check();
            if (!told_by_steps(own_rates()[k], trials_.base()))
                continue;
            const std::optional<double> change = change_that_explains(
                trials_, step.question, others.changes, k, std::log(step.measured.value()));
            if (!change)
                continue;
            const double left = misfit_with(others, kept, k, *change);
            if (found.explained && left >= least)
                continue;
            found.explained = true;
            found.rate = k;
            found.slower = std::exp(-*change);
            least = left;
        }
        return found;
    }

private:
    // Of the kept steps and of what is believed of the rates, with one of them changed.
    double misfit_with(const RateFit& others, std::span<const std::size_t> kept, std::size_t rate,
                       double change) const
    {
        RateFit with = others;
        with.changes[rate] = change;
        std::vector<double> moved(with.changes.size());
        for (std::size_t k = 0; k < moved.size(); ++k)
            moved[k] = with.changes[k] - fit_.changes[k];
        with.residuals.clear();
        for (const std::size_t i : kept) {
            const StepResponse& response = fit_.responses[i];
            with.residuals.push_back(std::log(steps_.steps[i].measured.value()) -
                                     response.log_time - response.log_change(moved));
        }
        return misfit(with, options_);
    }

    const MeasuredSteps& steps_;
    const RateFit& fit_;
    RateTrials& trials_;
    const RateFitOptions& options_;
};

} // namespace

Checked<StepAgreement> step_agreement(const MeasuredSteps& steps, const RateFit& fit,
                                      RateTrials& trials, const RateFitOptions& options,
                                      const WorkControl& work)
{
    const ContradictionSearch search(steps, fit, trials, options);
    const Checked<std::vector<std::size_t>> kept = search.agreeing();
    if (!kept)
        return tl::unexpected(kept.error());
    const std::vector<std::size_t> known =
        steps.steps.size() == 1 ? std::vector<std::size_t>() : *kept;
    const RateFit others = fit_to(fit, steps, known, options);
    StepAgreement out{known, {}};
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        if (std::ranges::find(known, i) != known.end())
            continue;
        const Checked<Surprise> found = search.surprise_of(i, others);
        if (!found)
            return tl::unexpected(found.error());
        if (found->much) {
            out.contradictions.push_back(search.explained(i, found->error, others, known, work));
            out.contradictions.back().alone = steps.steps.size() == 1;
        } else
            out.agreeing.push_back(i);
    }
    std::ranges::sort(out.agreeing);
    return out;
}

} // namespace trainyard
