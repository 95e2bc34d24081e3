#include "sim/study/inputs.h"
#include "sim/study/own_steps/step_findings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// One setting changed; what follows from it is set besides.
struct Candidate {
    std::string shown;
    std::vector<Override> changes;
};

std::vector<Candidate> candidates(const Scenario& scenario)
{
    std::vector<Candidate> out;
    const auto add = [&out](const std::string& field, std::int64_t value, bool moves_devices) {
        if (value < 1)
            return;
        Candidate candidate{fmt::format("{}={}", field, value), {{field, std::to_string(value)}}};
        if (moves_devices)
            candidate.changes.push_back({"strategy.dp", "null"});
        out.push_back(std::move(candidate));
    };
    const auto halves_and_doubles = [&add](const std::string& field, std::int64_t value,
                                           bool moves_devices) {
        if (value % 2 == 0)
            add(field, value / 2, moves_devices);
        add(field, 2 * value, moves_devices);
    };
    const Strategy& strategy = scenario.strategy;
    halves_and_doubles("training.micro_batch", scenario.training.micro_batch, false);
    halves_and_doubles("strategy.tp", strategy.tp, true);
    halves_and_doubles("strategy.pp", strategy.pp, true);
    if (strategy.ep > 1)
        halves_and_doubles("strategy.ep", strategy.ep, false);
    halves_and_doubles("training.sequence_length", scenario.training.sequence_length, false);
    if (const Json* nodes = scenario.topology.value.find("nodes");
        nodes != nullptr && nodes->is_integer())
        halves_and_doubles("topology.nodes", nodes->as_integer(), true);
    return out;
}

// C - C j j' C / (sigma^2 + j' C j): what one more step with slopes j leaves.
std::vector<std::vector<double>> narrowed(const std::vector<std::vector<double>>& covariance,
                                          const std::vector<double>& slopes, double noise)
{
    const std::size_t count = slopes.size();
    std::vector<double> moved(count, 0.0);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < count; ++k)
            moved[i] += covariance[i][k] * slopes[k];
    const double total = noise * noise + variance_of(slopes, covariance);
    std::vector<std::vector<double>> out = covariance;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < count; ++k)
            out[i][k] -= moved[i] * moved[k] / total;
    return out;
}

// The rate of which the run takes the largest share of the variance, and that share.
struct NarrowedRate {
    std::size_t rate = 0;
    double share = 0;
};

NarrowedRate most_narrowed(const RateFit& fit, const std::vector<std::vector<double>>& after)
{
    NarrowedRate best;
    for (std::size_t k = 0; k < after.size(); ++k) {
        const double share = 1 - after[k][k] / fit.covariance[k][k];
        if (share > best.share)
            best = {k, share};
    }
    return best;
}

} // namespace

Checked<std::vector<FurtherRun>> further_runs(const MeasuredSteps& steps, const RateFit& fit,
                                              RateTrials& trials, const ScenarioFile* target,
                                              const RateFitOptions& options,
                                              const WorkControl& work)
{
    const std::vector<double> none(fit.changes.size(), 0.0);
    std::vector<double> towards;
    if (target != nullptr) {
        const Checked<StepResponse> response = trials.response(*target, fit.changes);
        if (!response)
            return tl::unexpected(response.error());
        towards = response->slopes(none);
    }
    const double noise = std::hypot(options.step_noise, options.unexplained);
    std::vector<FurtherRun> out;
    const ScenarioFile& first = steps.steps.front().question;
    for (const Candidate& candidate : candidates(first.scenario)) {
        work.check();
        Json json = first.json;
        const std::string file = (first.base / first.file).string();
        const Checked<ScenarioFile> changed = scenario_from(
            std::move(json), first.base.empty() ? first.file : file, candidate.changes);
        if (!changed || !trials.fits(*changed))
            continue;
        const Checked<StepResponse> response = trials.response(*changed, fit.changes);
        if (!response)
            continue;
        const auto after = narrowed(fit.covariance, response->slopes(none), noise);
        const NarrowedRate best = most_narrowed(fit, after);
        const double share = towards.empty() ? best.share
                                             : 1 - variance_of(towards, after) /
                                                       variance_of(towards, fit.covariance);
        out.push_back({.change = candidate.shown,
                       .predicted = std::exp(response->log_time),
                       .told = share,
                       .best_rate = own_rates()[best.rate].title});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const FurtherRun& a, const FurtherRun& b) { return a.told > b.told; });
    return out;
}

} // namespace trainyard
