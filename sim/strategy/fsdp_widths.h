#pragma once

// Bytes per parameter of what FSDP holds and moves.

#include "sim/strategy/job.h"

namespace trainyard {

struct FsdpWidths {
    double held = 2;      // in shards, beside the optimizer's copy
    double gathered = 2;  // as parameters travel and as kernels read them
    double computed = 2;  // gradients as kernels write them
    double gradients = 4; // as they are accumulated
    double reduced = 4;   // as they travel
};

FsdpWidths fsdp_widths(const Job& job);

// Formats that parameters (gradients) may travel in: fp32, bf16, fp16, and fp8 for parameters.
bool gathers_in(Precision precision);
bool reduces_in(Precision precision);

} // namespace trainyard
