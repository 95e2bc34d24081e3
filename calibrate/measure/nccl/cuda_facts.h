#pragma once

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/nccl/cuda_api.h"

namespace trainyard {

// "13.0" of 13000.
std::string cuda_version_text(int version);

// Why GPUs of that compute capability (90: 9.0) do not multiply matrices of the work's type and
// shape; empty: they do.
std::string cannot_multiply_type(const LocalWork& work, int capability);

// What `device` says, without the library's part.
BackendFacts facts_of(const CudaDevice& device);

} // namespace trainyard
