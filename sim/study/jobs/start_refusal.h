#pragma once

// Why there is no starting point.

#include "sim/study/jobs/layout_trials.h"

namespace trainyard {

// After a search that found nothing: the batch, where others (`batches`, see nearest_batches.h)
// would do; what the model or the cluster cannot do; or memory.
StartRefusal start_refusal(const LayoutFacts& facts, const LayoutSpace& space,
                           const LayoutTrials& trials, const std::vector<std::int64_t>& batches);

} // namespace trainyard
