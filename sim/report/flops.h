#pragma once

// Operations of a step: what the model needs and what the devices execute.

#include "sim/study/outcome.h"

namespace trainyard {

// Forward + backward of the global batch, no recompute, causal half of attention, no work of
// experts for tokens that they drop: the numerator of MFU.
Flops model_flops_per_step(const Job& job);

// What all ranks execute in the passes of a step, recompute included: the numerator of HFU. Counted
// from the plan's kernels, role by role, of uneven experts the mean of the ranks; the optimizer's
// products (Muon) are no passes.
Flops hardware_flops_per_step(const Job& job, const Plan& plan, const Binding& binding);

// The number format that most GEMM operations of the plan are done in; `otherwise` when it has no
// GEMMs. Peaks are compared in this format.
Precision main_precision(const Plan& plan, Precision otherwise);

// Share of `peak` x `gpus` that `work` per `step` amounts to.
double flops_utilization(Flops work, Seconds step, FlopRate peak, int gpus);

} // namespace trainyard
