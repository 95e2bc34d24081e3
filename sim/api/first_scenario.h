#pragma once

// A first scenario from a model and a cluster: what `trainyard init` makes.

#include "sim/api/imported_job.h"
#include "sim/study/jobs/starting_point.h"

namespace trainyard {

// As people say it. Machines: `job.topology`, or GPUs of `job.gpu` in nodes as usual for it.
struct FirstQuestion {
    JobQuestion job;
    Json config;                      // of the model, in place of `job.model`; null: none
    int gpus = 0;                     // in all; 0: of `job.nodes` nodes, else of one
    std::int64_t sequence_length = 0; // 0: as usual; likewise the batch
    std::int64_t global_batch = 0;    // sequences
};

// Its reasons say what is unusual about the cluster, too. Paths are for a scenario in `folder`.
tl::expected<StartingPoint, StartRefusal> first_scenario(const FirstQuestion& question,
                                                         const std::filesystem::path& folder,
                                                         Session& session, const WorkControl& work);

} // namespace trainyard
