#pragma once

// What a pipeline stage does besides the passes of its layers, at least: parameters and gradients
// on their way, the optimizer, the host.

#include "sim/strategy/bound/lone_rank.h"
#include "sim/strategy/lower/job_work.h"

namespace trainyard {

// A step is a first micro-batch and more of them; its passes lie between its head (what comes
// before the first pass) and its tail (what comes behind the last one).
struct StageRest {
    Seconds turn;            // from the end of the last pass to the next step's first one
    Seconds head;            // from the host's first op to the first pass
    Seconds to_host;         // from the end of the last pass to the host's next step
    Seconds after_transfers; // likewise, from the last transfer of data parallelism before the tail
    Seconds update;          // likewise, from the host's last op before the tail
    Seconds gathers;         // transfers of data parallelism in the head
    Seconds reductions;      // likewise between passes, of gradients
    Seconds transfers;       // all of these, of a step with one micro-batch ...
    Seconds more_transfers;  // ... and with each that it has more
    Seconds beside;          // kernels between passes, likewise
    Seconds more_beside;
    Seconds issue; // of the host, for what lies before the tail, likewise
    Seconds more_issue;
};

// By device of the pipeline.
std::vector<StageRest> stage_rests(const Job& job, const JobWork& work, const Topology& topology,
                                   const CostModel& cost);

} // namespace trainyard
