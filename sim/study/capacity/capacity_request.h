#pragma once

// Which cluster trains a model as somebody wants it: what is asked, and of which clusters.

#include "sim/study/pareto_front.h"
#include "sim/study/search/search.h"
#include "sim/study/training/whole_training.h"

namespace trainyard {

// Clusters of one kind, of any number of nodes.
struct ClusterKind {
    std::string name; // as the user has it
    std::string gpu;  // of usual machines ("h100"); empty:
    Json topology;    // whose "nodes" are replaced
    int gpus_per_node = 8;
    std::optional<int> nodes; // else the fewest that meet the goal
    PriceModel prices;

    bool has_price() const { return prices.gpu_hour || prices.node_hour; }
};

// "h100", "256xh100" (so many GPUs), a topology file with "nodes", which lies in `folder`; one of a
// single node that no fabric joins to others is taken as it is.
// Problems: no such GPU or file, GPUs that are no whole nodes.
Checked<ClusterKind> cluster_kind(const std::string& text, const std::filesystem::path& folder);

// The cluster of a scenario, likewise.
Checked<ClusterKind> cluster_kind(const ScenarioFile& scenario);

struct TokenRange {
    double least = 0;
    double most = 0;
};

struct GpuRange {
    int least = 1;
    int most = 1;
};

struct SizedCluster;

// Told of a plan under way, in its thread but for `search`.
struct CapacityListener {
    std::function<void(const ClusterKind&, int nodes)> begun; // a size is looked at
    std::function<void(const ClusterKind&, const SizedCluster&)> ended;
    SearchListener search; // of the layouts of that size
};

struct CapacityRequest {
    std::optional<ScenarioFile> scenario; // whose model and training count; else:
    Source model;
    std::filesystem::path folder; // where its path starts
    std::optional<std::int64_t> sequence_length;
    std::optional<TokenRange> batch; // of a step; else the scenario's, or the usual one
    std::vector<ClusterKind> clusters;
    std::vector<SweepAxis> axes;   // restrict the space
    WholeTrainingRequest training; // but for step, batch, devices and prices; tokens 0: as many as
                                   // the deadline and the budget allow
    std::vector<Objective> objectives; // of the front; empty: days and money, or what comes next
    std::optional<GpuRange> scaling;   // sizes to be looked at whatever the goal
    std::optional<GpuRange> guide;     // sizes to find a strategy for
    int most_gpus = 131'072;           // of a cluster
    double headroom = 0.05;
    double tolerance = 0.02; // of a search (SearchRequest)
    int threads = 0;
    WorkControl work;
    CapacityListener listener;

    // Else it is only asked how clusters scale, or for a guide.
    bool has_goal() const { return training.tokens > 0 || training.deadline || training.budget; }
};

} // namespace trainyard
