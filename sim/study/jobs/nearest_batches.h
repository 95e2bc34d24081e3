#pragma once

// The batches beside one that no layout divides.

#include "sim/study/jobs/layout_trials.h"

namespace trainyard {

// The nearest below and the nearest above facts.global_batch of which a layout makes whole
// micro-batches and fits: those that the batch alone left out of `space`. The lower one first;
// empty where there are none.
std::vector<std::int64_t> nearest_batches(const LayoutSpace& space, const LayoutFacts& facts,
                                          LayoutTrials& trials);

} // namespace trainyard
