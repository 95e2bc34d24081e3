#pragma once

// A layer's backward cut in two (Qi 2023, section 2): what the layer before waits for, and the
// gradients of weights, which may run at any time until the optimizer.
//
// As in the published implementations only matrix products are put off (WeightGradStore): gradients
// of norms and of the embedding's rows are made with those of the input.

#include "sim/workload/kernel.h"

namespace trainyard {

// All but what is `for_weights`, in order. A communication that ran beside items left out waits for
// as many fewer.
WorkList input_part(const WorkList& backward);
WorkList weight_part(const WorkList& backward);

} // namespace trainyard
