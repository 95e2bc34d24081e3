#include "sim/report/summary.h"

#include "sim/report/targets.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/paste.h"

namespace trainyard {

namespace {

// Of the losses that the rules find, most come from the costliest perturbation; a slow device they
// name themselves.
void name_cause(Summary& summary)
{
    if (!summary.pace || summary.pace->culprits.empty() || !summary.fits)
        return;
    const CulpritRow& costliest = summary.pace->culprits.front();
    const Seconds step = summary.step_time.value;
    const double cost = (step - costliest.without) / step;
    if (cost >= good_overhead && costliest.perturbation.slowdown <= 1)
        summary.bottleneck =
            naming_the_perturbation(summary.bottleneck, describe(costliest.perturbation), cost);
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

Summary summarize(const Outcome& outcome, const Sensitivity& sensitivity)
{
    Summary summary;
    static_cast<StepFigures&>(summary) = step_figures(outcome);
    static_cast<Sensitivity&>(summary) = sensitivity;
    if (sensitivity.scaling) {
        summary.scaling_efficiency = sensitivity.scaling->efficiency;
        summary.scaling_base_gpus = sensitivity.scaling->base_gpus;
    }
    const std::size_t critical = outcome.result->critical_lane.value;
    summary.critical_rank = static_cast<int>(outcome.binding->lanes[critical].rank.value);
    summary.critical = shares_of(outcome.result->lanes[critical]);
    summary.collectives = collective_rows(outcome);
    summary.cluster_collectives = cluster_collective_rows(outcome);
    summary.links = link_rows(outcome);
    const NodePair pair = node_pair(outcome);
    summary.node_latency = pair.latency;
    summary.node_bandwidth = pair.bandwidth;
    Symptoms symptoms = symptoms_of(outcome);
    symptoms.mfu = summary.mfu;
    summary.loading = symptoms.loading;
    summary.bottleneck = find_bottleneck(symptoms);
    name_answer(summary);
    name_cause(summary);
    return summary;
}

} // namespace trainyard
