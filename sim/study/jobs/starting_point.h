#pragma once

// A first scenario from a model and a cluster: the quickest layout of those that are usual.

#include "sim/study/search/search.h"

namespace trainyard {

struct StartRequest {
    Source model;
    Source topology;
    std::optional<std::int64_t> sequence_length;
    std::optional<std::int64_t> global_batch;
    std::filesystem::path folder; // of the scenario
    WorkControl work;
};

struct StartingPoint {
    Scenario scenario;
    MemoryEstimate memory;
    Seconds step_time;
    std::vector<std::string> reasons; // one sentence for each value that was chosen
};

struct StartRefusal {
    Problems problems;
    bool too_large = false; // all is in order, but no layout fits into memory
    Bytes least_memory;     // of a device, then: what the leanest layout needs; 0: there is none
};

// Searches the layouts of Megatron-Core with its distributed optimizer and the schedules that it
// has, FSDP and DDP; on domains of an odd number of devices also with some of them idle. The
// quickest that leaves a tenth of the memory free (or fits at all, where none does); none of other
// sizes is more than a few per cent quicker. The same request gives the same scenario. Refused with
// the reason: what the model or the cluster cannot do, a batch that no layout that fits divides, or
// memory. Throws Cancelled.
tl::expected<StartingPoint, StartRefusal> starting_point(const StartRequest& request,
                                                         Session& session);

} // namespace trainyard
