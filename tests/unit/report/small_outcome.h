#pragma once

// A job small enough to do by hand: two pipeline stages of two replicas, two micro-batches, on two
// nodes of two GPUs. Stage 0 is node 0.
//
//     ms        0    10    21       42    52    62     73         93   98 100
//     stage 0   F0   F1             B0                 B1         sum  U
//     stage 1        F0(11) B0(21)  F1    B1(52-72)    sum(73-78) U(78-80)
//
// Forward takes 10 ms, backward 20, a message 1 (the sender does not wait), the sum of gradients
// (1 GB) 5, the update 2; the step is 100 ms.

#include "sim/report/summary.h"
#include "sim/report/timeline/recorded.h"
#include "tests/unit/report/small_plan.h"

namespace trainyard::test {

inline constexpr FlopRate device_peak{989e12};

// Of one forward GEMM, 2 x 8192^3; backward does twice that.
inline constexpr double forward_flops = 2.0 * 8192 * 8192 * 8192;

// Without records.
Outcome small_outcome(Lanes lanes = Lanes::all);

// With all ops of one step.
Outcome recorded_outcome(Lanes lanes = Lanes::all);

// One GPU, one forward and one backward of 10 and 20 ms, no communication.
Outcome single_gpu_outcome();

// A summary with a value everywhere, that fits and adds up.
Summary small_summary();

} // namespace trainyard::test
