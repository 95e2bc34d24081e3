#pragma once

// The role of one pipeline stage: its passes with the exchanges between them, then gradients,
// optimizer and what closes the step.

#include "sim/strategy/lower/exchanges.h"
#include "sim/strategy/lower/layer_blocks.h"

namespace trainyard {

struct StageRequest {
    const Job& job;
    const JobWork& work;
    const StagePlacement& placement;
    int stage = 0; // device of the pipeline
    const std::vector<Pass>& passes;
    const StageExchanges& exchanges;
    const std::vector<int>& peers; // by peer slot
};

void lower_stage(PlanBuilder& plan, LayerCatalog& catalog, const StageRequest& request);

} // namespace trainyard
