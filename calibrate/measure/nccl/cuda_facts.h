#pragma once

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/nccl/cuda_api.h"

namespace trainyard {

// "13.0" of 13000.
std::string cuda_version_text(int version);

// What `device` says, without the library's part.
BackendFacts facts_of(const CudaDevice& device);

} // namespace trainyard
