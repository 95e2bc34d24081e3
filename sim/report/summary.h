#pragma once

// What a person wants to know of an outcome, as values: text, JSON and HTML only lay it out.

#include "sim/report/collectives.h"
#include "sim/report/step_figures.h"
#include "sim/report/traffic.h"
#include "sim/study/sensitivity/sensitivity.h"

namespace trainyard {

// What is kept of a run where many are held against one another.
struct RunFigures : StepFigures {
    int critical_rank = 0;
    TimeShares critical{}; // of the rank that sets the pace
};

struct Summary : RunFigures, Sensitivity {
    std::vector<CollectiveRow> collectives;
    std::vector<ClusterCollectiveRow> cluster_collectives;
    std::vector<LinkClassRow> links;
    Seconds node_latency;           // smallest message between two nodes; 0: there is only one
    Bandwidth node_bandwidth;       // a large message between two nodes, per GPU when all send
    std::optional<Loading> loading; // when the job loads data
};

// With the bottleneck, without the scaling efficiency.
RunFigures run_figures(const Outcome& outcome);

// `sensitivity`: what was simulated besides.
Summary summarize(const Outcome& outcome, const Sensitivity& sensitivity = {});

} // namespace trainyard
