#pragma once

// What a person wants to know of an outcome, as values: text, JSON and HTML only lay it out.

#include "sim/report/advice/advice.h"
#include "sim/report/bottleneck.h"
#include "sim/report/collectives.h"
#include "sim/report/pace.h"
#include "sim/report/traffic.h"
#include "sim/study/what_if.h"

#include <string_view>

namespace trainyard {

struct Summary {
    Prediction step_time;
    double tokens_per_s = 0; // 0 for models without tokens
    double samples_per_s = 0;
    double tokens_per_s_per_gpu = 0;
    double samples_per_s_per_gpu = 0;
    double mfu = 0;
    double hfu = 0;
    FlopRate model_flops_per_gpu;
    FlopRate peak_flops_per_gpu; // dense, of the precision of most GEMMs
    Precision peak_precision = Precision::bf16;
    bool on_cpus = false;
    bool has_usual_mfu = false; // a dense transformer in 16 bit on GPUs: others have no such range
    Bytes peak_memory;
    Bytes capacity;
    bool fits = true;
    int critical_rank = 0;
    TimeShares critical{}; // of the rank that sets the pace
    TimeShares mean{};     // over all ranks
    // Times of a rank's transfers, overlapped or not, over the step: above 1 where several move
    // data at once.
    double communication_summed_fraction = 0;
    double communication_exposed_fraction = 0;
    double compute_utilization = 0;
    double synchronization_share = 0; // waiting for others
    double bubble_share = 0;
    std::optional<double> scaling_efficiency; // against the smallest feasible size
    int scaling_base_gpus = 0;
    std::vector<CollectiveRow> collectives;
    std::vector<ClusterCollectiveRow> cluster_collectives;
    std::vector<LinkClassRow> links;
    Seconds node_latency;           // smallest message between two nodes; 0: there is only one
    Bandwidth node_bandwidth;       // a large message between two nodes, per GPU when all send
    std::optional<Loading> loading; // when the job loads data
    Bottleneck bottleneck;
    std::optional<Pace> pace;    // when something perturbs the job
    AdviceReport advice;         // when it was asked for
    std::vector<WhatIf> what_if; // likewise

    std::string_view device_word() const { return on_cpus ? "device" : "GPU"; }
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
