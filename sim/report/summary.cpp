#include "sim/report/summary.h"

namespace trainyard {

Summary summarize(const Outcome& outcome)
{
    Summary summary;
    static_cast<StepFigures&>(summary) = step_figures(outcome);
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
    return summary;
}

} // namespace trainyard
