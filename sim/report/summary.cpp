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

RunFigures figures_of(const Outcome& outcome, Symptoms symptoms)
{
    RunFigures figures;
    static_cast<StepFigures&>(figures) = step_figures(outcome);
    const std::size_t critical = outcome.result->critical_lane.value;
    figures.critical_rank = static_cast<int>(outcome.binding->lanes[critical].rank.value);
    figures.critical = shares_of(outcome.result->lanes[critical]);
    symptoms.mfu = figures.mfu;
    figures.bottleneck = find_bottleneck(symptoms);
    return figures;
}

} // namespace

RunFigures run_figures(const Outcome& outcome)
{
    return figures_of(outcome, symptoms_of(outcome));
}

Summary summarize(const Outcome& outcome, const Sensitivity& sensitivity)
{
    Summary summary;
    summary.collectives = collective_rows(outcome);
    const std::vector<TransferTraffic> traffic = traffic_of(outcome);
    const Symptoms symptoms = symptoms_of(outcome, summary.collectives, traffic);
    static_cast<RunFigures&>(summary) = figures_of(outcome, symptoms);
    static_cast<Sensitivity&>(summary) = sensitivity;
    if (sensitivity.scaling) {
        summary.scaling_efficiency = sensitivity.scaling->efficiency;
        summary.scaling_base_gpus = sensitivity.scaling->base_gpus;
    }
    summary.cluster_collectives = cluster_collective_rows(outcome);
    summary.links = link_rows(outcome, traffic);
    const NodePair pair = node_pair(outcome);
    summary.node_latency = pair.latency;
    summary.node_bandwidth = pair.bandwidth;
    summary.loading = symptoms.loading;
    name_answer(summary);
    name_cause(summary);
    return summary;
}

} // namespace trainyard
