#pragma once

// The order that DualPipe and DualPipeV share (DeepSeek-V3, section 3.2.1; the eight steps of
// DeepSeek's published code): two directions per device, a forward pass of one beside a backward
// pass of the other, gradients of weights put off where nothing else is left to do.

#include "sim/strategy/schedule.h"

namespace trainyard {

struct DualOrder {
    int half = 1;     // positions from the outer devices to the inner ones
    int position = 0; // from the outside
    int passes = 0;   // micro-batches of each direction
};

// Passes whose `chunk` is the direction: 0 comes from the outside, 1 from the inside; micro-batches
// counted in each direction.
std::vector<Pass> dual_passes(const DualOrder& order);

} // namespace trainyard
