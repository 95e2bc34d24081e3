#pragma once

// What ZB-H1 and ZB-H2 share: 1F1B whose backward passes are split, with the gradients of weights
// put off.

#include "sim/strategy/schedule.h"

namespace trainyard {

// `ahead` forward passes, then one forward and one backward pass in turn. After each backward pass
// the gradients of weights of the micro-batch `behind` passes earlier, the rest at the end.
struct SplitOrder {
    int ahead = 0;
    int behind = 0;
};
std::vector<Pass> split_passes(int micro_batches, const SplitOrder& order);

// Why a handcrafted schedule of one stage per device cannot run; empty when it can.
std::string one_stage_refusal(std::string_view schedule, const PipelineShape& shape);

} // namespace trainyard
