#pragma once

// A job whose parts fit together: everything decided, nothing left to default. Made by `resolve`.

#include "sim/cost/device.h"
#include "sim/cost/software.h"
#include "sim/strategy/data/data_loading.h"
#include "sim/strategy/training.h"

namespace trainyard {

// How the host hands kernels to the device.
struct LaunchHabits {
    bool blocking = false; // it waits for each (CUDA_LAUNCH_BLOCKING)
    bool ordered = true;   // those of several streams start in the order of issue, so that
                           // communication runs beside the product issued after it

    bool operator==(const LaunchHabits&) const = default;
};

struct Job {
    Model model;
    Training training;
    Strategy strategy; // dp, sequence_parallel, overlap, fp32 gradients, schedule filled in
    SoftwareClass software;
    int gpus_per_node = 8; // where groups cross nodes
    bool cuda_graphs = false;
    LaunchHabits launches;
    Seconds communicator_creation;       // at the start of every step; 0: once, before the first
    std::optional<DataSource> data = {}; // else a step never waits for its input

    int dp() const { return *strategy.dp; }
    int world() const { return strategy.tp * strategy.cp * strategy.pp * dp(); }
    // Micro-batches per replica and step.
    std::int64_t micro_batches() const
    {
        return training.global_batch / (training.micro_batch * dp());
    }

    bool operator==(const Job&) const = default;
};

// Does one process run all replicas (torch.nn.DataParallel)?
inline bool is_single_process(const Job& job)
{
    return job.strategy.data_parallel == DataParallelScheme::single_process && job.dp() > 1;
}

struct JobRequest {
    Model model;
    Training training;
    Strategy strategy;
    SoftwareClass software;
    int devices = 1; // of the topology
    int gpus_per_node = 8;
    bool cuda_graphs = false;
    LaunchHabits launches;
    std::optional<DataSource> data = {};
};

// Fills in defaults and checks that the sizes fit: each refusal names the sizes that work. Problems
// carry pointers below "/strategy" and "/training"; the caller adds file and line.
//
// The default schedule 1f1b means interleaved-1f1b when vpp > 1. Sequence parallelism is on by
// default where the framework uses it, tp > 1 and tp divides the sequence.
Checked<Job> resolve(const JobRequest& request);

// Do expert ranks get unequal shares of the tokens?
bool has_uneven_experts(const Job& job);

// What the job offloads against the device it runs on: links, idle neighbours, known rates.
Problems offload_misfits(const Job& job, const Device& device);

// Work shape of one micro-batch of a layer under this job. The vocabulary is padded to a multiple
// of 128 x tp where the framework does so (Shoeybi 2019, section 4).
Partition partition_of(const Job& job);

} // namespace trainyard
