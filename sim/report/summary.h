#pragma once

// What a person wants to know of an outcome, as values: text, JSON and HTML only lay it out.

#include "sim/study/session.h"

namespace trainyard {

enum class BottleneckClass : std::uint8_t {
    compute,
    host,
    communication,
    synchronisation,
    network,
    memory,
    bubble,
    data,
    imbalance
};
template <>
std::vector<EnumName<BottleneckClass>> enum_names<BottleneckClass>();

struct Bottleneck {
    BottleneckClass kind = BottleneckClass::compute;
    std::string evidence; // "38 % of the step is exposed tensor-parallel communication across nodes
                          // (tp 16 > 8 GPUs of a node)"
};

using TimeShares = std::array<Seconds, time_kind_count>; // sum to the step time

// One kind of collective over one kind of group.
struct CollectiveRow {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    std::uint64_t count_per_rank = 0;
    Bytes mean_size;
    Seconds mean_time; // from the last arrival
    Bandwidth algorithm_bandwidth;
    Bandwidth bus_bandwidth; // nccl-tests' factor applied
    Seconds total_per_rank;
    Seconds exposed_per_rank;
    Seconds waiting_per_rank;
};

struct LinkClassRow {
    std::string name; // "NVLink", "NIC NDR400", ...
    std::size_t links = 0;
    Bandwidth capacity;
    double bytes = 0;       // per step, all links
    double utilization = 0; // mean over links and time
};

struct Summary {
    Prediction step_time;
    double tokens_per_s = 0; // 0 for models without tokens
    double samples_per_s = 0;
    double tokens_per_s_per_gpu = 0;
    double samples_per_s_per_gpu = 0;
    double mfu = 0;
    double hfu = 0;
    FlopRate model_flops_per_gpu;
    Bytes peak_memory;
    Bytes capacity;
    bool fits = true;
    int critical_rank = 0;
    TimeShares critical{};                   // of the rank that sets the pace
    TimeShares mean{};                       // over all ranks
    double communication_total_fraction = 0; // of the step, per rank, overlapped or not
    double communication_exposed_fraction = 0;
    double compute_utilization = 0;
    double synchronization_share = 0; // waiting for others
    double bubble_share = 0;
    std::optional<double> scaling_efficiency; // against the smallest feasible size
    int scaling_base_gpus = 0;
    std::vector<CollectiveRow> collectives;
    std::vector<LinkClassRow> links;
    Seconds node_latency;     // smallest message between two nodes
    Bandwidth node_bandwidth; // a large message between two nodes, one GPU pair
    Bottleneck bottleneck;
};

struct SummaryOptions {
    bool scaling = true; // simulate the smallest feasible size too
};

Summary summarize(const Outcome& outcome, const ScenarioFile& file, Session& session,
                  const SummaryOptions& options = {});

} // namespace trainyard
