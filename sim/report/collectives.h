#pragma once

// How fast communication is: what the job achieves, and what the cluster gives.

#include "sim/study/outcome.h"

namespace trainyard {

// One kind of collective over one kind of group, as the job ran it.
struct CollectiveRow {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    int ranks = 1; // of the largest such group
    double count_per_rank = 0;
    Bytes mean_size;
    Seconds mean_time; // from the last arrival
    Bandwidth algorithm_bandwidth;
    Bandwidth bus_bandwidth; // in the step, with nccl-tests' factor from the algorithm's
    Seconds total_per_rank;
    Seconds exposed_per_rank;
    Seconds waiting_per_rank;
};

// Longest total first.
std::vector<CollectiveRow> collective_rows(const Outcome& outcome);

// One collective over all ranks of the job, nothing beside it: in a benchmark, and in a training
// step, where the profile's factor for it (`in_situ`) makes it slower.
struct ClusterCollectiveRow {
    CollectiveKind collective = CollectiveKind::all_reduce;
    int ranks = 1;
    Bytes size;
    Seconds time; // as nccl-tests would show
    Bandwidth algorithm_bandwidth;
    Bandwidth bus_bandwidth;
    Seconds in_step_time;
    Bandwidth in_step_bus_bandwidth;
};

inline constexpr Bytes cluster_collective_size{std::uint64_t{1} << 30};

// All-reduce, all-gather, reduce-scatter, all-to-all and broadcast of 1 GiB, and a barrier, over
// the links as they are. Empty for a single rank.
std::vector<ClusterCollectiveRow> cluster_collective_rows(const Outcome& outcome);

// A message between GPUs of the first two nodes while all other pairs send too, sharing the NICs;
// where links are perturbed, of the pair that they leave least.
struct NodePair {
    Seconds latency;     // of 8 bytes; 0: there is only one node, or nothing joins the two
    Bandwidth bandwidth; // of 1 GiB
};
NodePair node_pair(const Outcome& outcome);

// "all-reduce": for people.
std::string title_of(CollectiveKind kind);

// "TP", "DP", "embedding", ...
std::string title_of(GroupKind kind);

} // namespace trainyard
