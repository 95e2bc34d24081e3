#pragma once

// A sane first scenario from a model and a cluster: not the fastest, one that fits and is usual.

#include "sim/study/session.h"

namespace trainyard {

struct StartRequest {
    Source model;
    Source topology;
    std::optional<std::int64_t> sequence_length;
    std::optional<std::int64_t> global_batch;
    std::filesystem::path folder; // of the scenario
};

struct StartingPoint {
    Scenario scenario;
    MemoryEstimate memory;
    std::vector<std::string> reasons; // one sentence for each value that was chosen
};

// The rule: what fits into one GPU trains with DDP; a transformer whose states fit into one NVLink
// domain with FSDP; a larger one with TP inside the domain, PP and DP with a distributed optimizer.
// Each choice is checked against the estimate of memory. Refused when nothing fits: the problem
// says what is missing.
Checked<StartingPoint> starting_point(const StartRequest& request, Session& session);

} // namespace trainyard
