#pragma once

// LocalWork on CUDA. Throw MeasureFailure.

#include "calibrate/backends/cuda/cuda_runtime.h"

namespace trainyard {

// Row-major c = a x b', as a linear layer's forward pass: a m x k, b n x k. Of the algorithms that
// cuBLASLt proposes first, the fastest in a short trial. float32 is multiplied as float32 (no
// TF32); 16-bit types are summed in float32, and so is float8_e4m3 (with scales of one in device
// memory, as frameworks give them, without fast accumulation), whose result is bfloat16.
std::unique_ptr<DevicePlan> make_gemm_plan(CudaRuntime& cuda, const CublasLt& lt,
                                           const LocalWork& work);

// Reads, writes, copies, pinned copies and launches.
std::unique_ptr<DevicePlan> make_memory_plan(CudaRuntime& cuda, const LocalWork& work);

} // namespace trainyard
