#pragma once

#include "sim/strategy/job.h"

namespace trainyard {

// Bytes that the product of a weight gradient moves per element: its storage, where it is new; what
// it is read and written in, where it is added to that of the micro-batches before.
int weight_gradient_bytes(const Job& job);

} // namespace trainyard
