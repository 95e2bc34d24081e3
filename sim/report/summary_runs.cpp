// What needs more simulations than the job's own.

#include "sim/base/parallel.h"
#include "sim/report/pace.h"
#include "sim/report/scaling.h"
#include "sim/report/summary.h"
#include "sim/report/targets.h"
#include "sim/report/text/paste.h"

namespace trainyard {

namespace {

// Of the losses that the rules find, most come from the costliest perturbation; a slow device they
// name themselves.
void name_cause(Summary& summary, const Scenario& scenario)
{
    if (!summary.pace || summary.pace->culprits.empty() || !summary.fits)
        return;
    const CulpritRow& costliest = summary.pace->culprits.front();
    const Seconds step = summary.step_time.value;
    const double cost = (step - costliest.without) / step;
    if (cost >= good_overhead && scenario.perturbations[costliest.entry].slowdown <= 1)
        summary.bottleneck = naming_the_perturbation(summary.bottleneck, costliest.name, cost);
}

// The words on the bottleneck say what was tried against it.
void name_answer(Summary& summary)
{
    const std::optional<Advice>& answer = summary.advice.answer;
    if (summary.fits && answer && answer->gain > 0)
        summary.bottleneck =
            naming_the_answer(std::move(summary.bottleneck), paste_text(answer->set), answer->gain);
}

} // namespace

Summary summarize(const Outcome& outcome, const ScenarioFile& scenario, Session& session,
                  const SummaryOptions& options)
{
    const ScenarioFile file = in_fidelity(scenario, outcome.engine.network.fidelity);
    Summary summary = summarize(outcome);
    std::optional<Scaling> scaling;
    std::vector<std::function<void()>> runs;
    if (options.advice)
        runs.emplace_back(
            [&] { summary.advice = advise(outcome, file, session, *options.advice); });
    if (options.scaling == ScalingRun::simulate)
        runs.emplace_back([&] { scaling = scaling_against_smallest(outcome, file, session); });
    runs.emplace_back([&] { summary.pace = find_pace(outcome, file, session); });
    for_each_index(runs.size(), usable_threads(), [&](std::size_t i) { runs[i](); });
    name_answer(summary);
    name_cause(summary, outcome.scenario);
    if (scaling) {
        summary.scaling_efficiency = scaling->efficiency;
        summary.scaling_base_gpus = scaling->base_gpus;
    }
    return summary;
}

} // namespace trainyard
