#pragma once

// Why there is no starting point.

#include "sim/study/jobs/layout_trials.h"

namespace trainyard {

// After a search that found nothing: what the model or the cluster cannot do, a batch that no
// layout divides, or memory.
StartRefusal start_refusal(const StartRequest& request, const LayoutFacts& facts,
                           const LayoutSpace& space, const LayoutTrials& trials);

} // namespace trainyard
