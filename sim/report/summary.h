#pragma once

// What a person wants to know of an outcome, as values: text, JSON and HTML only lay it out.

#include "sim/report/advice/advice.h"
#include "sim/report/collectives.h"
#include "sim/report/pace.h"
#include "sim/report/step_figures.h"
#include "sim/report/traffic.h"
#include "sim/study/what_if.h"

namespace trainyard {

struct Summary : StepFigures {
    int critical_rank = 0;
    TimeShares critical{}; // of the rank that sets the pace
    std::vector<CollectiveRow> collectives;
    std::vector<ClusterCollectiveRow> cluster_collectives;
    std::vector<LinkClassRow> links;
    Seconds node_latency;           // smallest message between two nodes; 0: there is only one
    Bandwidth node_bandwidth;       // a large message between two nodes, per GPU when all send
    std::optional<Loading> loading; // when the job loads data
    std::optional<Pace> pace;       // when something perturbs the job
    AdviceReport advice;            // when it was asked for
    std::vector<WhatIf> what_if;    // likewise
};

enum class ScalingRun : std::uint8_t {
    skip,
    simulate // the smallest feasible size too
};

struct SummaryOptions {
    ScalingRun scaling = ScalingRun::simulate;
    std::optional<AdviceOptions> advice; // else none
};

// With what needs more simulations, run beside each other.
Summary summarize(const Outcome& outcome, const ScenarioFile& file, Session& session,
                  const SummaryOptions& options = {});

// Everything but the scaling efficiency, advice and what-ifs, which need more simulations.
Summary summarize(const Outcome& outcome);

} // namespace trainyard
