#pragma once

// Which cluster trains a model as somebody wants it: what is asked, and of which clusters.

#include "sim/study/search/search.h"
#include "sim/study/training/whole_training.h"

namespace trainyard {

// Clusters of one kind, of any number of nodes.
struct ClusterKind {
    std::string name; // as the user has it: a GPU ("h100") or a topology file with "nodes"
    Json topology;    // a cluster; its "nodes" are replaced
    std::string file; // it was read from, and paths in it start at; empty: a usual machine
    int gpus_per_node = 8;
    std::optional<int> nodes; // else the fewest that meet the goal
    PriceModel prices;
};

struct TokenRange {
    double least = 0;
    double most = 0;
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
    std::optional<double> budget;  // in the currency of the prices
    int most_gpus = 131'072;       // of a cluster
    double headroom = 0.05;
    double tolerance = 0.02; // of a search (SearchRequest)
    int threads = 0;
    WorkControl work;
};

} // namespace trainyard
