#pragma once

// What would help, resource by resource: causal profiling of a job on a cluster.
//
// Each improvement edits numbers and runs the step again; the program stays (but for the pipeline
// without waits). Nothing is derived from the breakdown: what hides behind something else gains
// nothing here, as it would on the cluster.

#include "sim/study/outcome.h"

#include <functional>

namespace trainyard {

// What numbers are bound from. An improvement may change these ...
struct BindInputs {
    Job job;
    Profile profile;
    std::shared_ptr<const Topology> topology;
    LinkFactors links;
    BindOptions options;
};

// ... or what came of them.
struct BoundStep {
    Program program;
    Binding binding;
};

struct Improvement {
    std::string resource;                    // "NVLink"
    std::string change;                      // "twice the bandwidth"
    std::function<void(BindInputs&)> inputs; // either may be empty
    std::function<void(BoundStep&)> step;
    bool used = false; // surely: kept when no number changes, since something else is the limit
};

// Those that could matter to a job of this kind: links of classes the cluster has, groups the
// program has, ...
std::vector<Improvement> improvements_for(const Outcome& outcome);

struct WhatIf {
    std::string resource;
    std::string change;
    Seconds step_time;
    double gain = 0; // share of the step that is saved; below 0 where it costs

    bool operator==(const WhatIf&) const = default;
};

struct WhatIfOptions {
    int threads = 0;  // 0: as many as the machine runs at once
    WorkControl work; // counts improvements; `cancel` makes it throw Cancelled
};

// Every improvement by itself, largest gain first. Those that change no number of the job, and are
// not surely used, are left out.
Checked<std::vector<WhatIf>> what_if(const Outcome& outcome,
                                     std::span<const Improvement> improvements,
                                     const WhatIfOptions& options = {});

// The same of all that could matter.
Checked<std::vector<WhatIf>> what_if(const Outcome& outcome, const WhatIfOptions& options = {});

} // namespace trainyard
