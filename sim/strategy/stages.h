#pragma once

// Which layers each virtual pipeline stage holds, and which of them run forward again in backward.

#include "sim/strategy/job.h"
#include "sim/strategy/schedule.h"

namespace trainyard {

struct StageLayer {
    LayerKind kind;
    Recompute recompute = Recompute::none;
    bool offloaded = false; // its activations wait in the host's memory

    bool operator==(const StageLayer&) const = default;
};

// The pipeline of a resolved job.
PipelineShape shape_of(const Job& job);
StagePlacement placement_of(const Job& job);
std::vector<std::vector<Pass>> passes_of(const Job& job); // by stage

// Layers of each virtual stage of a pipe, front to back: the embedding opens the first stage,
// the head closes the last; the rest as `stage_layers` says, else even. With `recompute_layers` = n
// the first n layers of each device are recomputed, spread evenly over its chunks, and of the
// rest as many as offloading takes wait on the host. Embedding and head never are.
std::vector<std::vector<StageLayer>> cut_into_stages(const Job& job);

} // namespace trainyard
