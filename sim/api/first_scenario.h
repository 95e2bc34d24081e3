#pragma once

// A first scenario from a model and a cluster: what `trainyard init` makes.

#include "sim/api/imported_job.h"
#include "sim/study/jobs/starting_point.h"

namespace trainyard {

// As people say it. Machines: `job.topology`, or GPUs of `job.gpu` in nodes as usual for it.
struct FirstQuestion {
    JobQuestion job;
    Json config;                      // of the model, in place of `job.model`; null: none
    Json topology;                    // likewise, in place of `job.topology`
    int gpus = 0;                     // in all; 0: of `job.nodes` nodes, else of one
    std::int64_t sequence_length = 0; // 0: as usual; likewise the batch
    std::int64_t global_batch = 0;    // sequences
};

// Its reasons say what is unusual about the cluster, too. Paths are for a scenario in `folder`.
tl::expected<StartingPoint, StartRefusal> first_scenario(const FirstQuestion& question,
                                                         const std::filesystem::path& folder,
                                                         Session& session, const WorkControl& work);

struct SmallestCluster {
    int nodes = 0;
    int gpus = 0;
};

// The fewest nodes of the question's kind on which the model fits, after it was refused for being
// too large. A batch counts where its sequences' length is given too. Nothing where no number of
// nodes has room, or the topology has none. Throws Cancelled.
std::optional<SmallestCluster> smallest_cluster_for(const FirstQuestion& question,
                                                    const StartRefusal& refusal,
                                                    const std::filesystem::path& folder,
                                                    Session& session, const WorkControl& work);

} // namespace trainyard
