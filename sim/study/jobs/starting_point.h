#pragma once

// A first scenario from a model and a cluster: of the usual layouts, the quickest that fits.

#include "sim/study/jobs/layouts.h"
#include "sim/study/session.h"

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
};

// Looks through layout_space: families in the order of their rough time, of each the quickest
// layout that leaves a tenth of the memory free (or fits at all, where none does). A dozen of them
// are simulated, with larger or smaller micro-batches where those may be quicker, then neighbours
// of the best one and the others of its family. The same request gives the same scenario. Refused
// with the reason: what the model or the cluster cannot do, a batch that no layout that fits
// divides, or memory. Throws Cancelled.
tl::expected<StartingPoint, StartRefusal> starting_point(const StartRequest& request,
                                                         Session& session);

} // namespace trainyard
