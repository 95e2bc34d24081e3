#pragma once

// What CUDA and NCCL say, as failures that tell what to do.

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/nccl/nccl_api.h"

namespace trainyard {

// `doing`: "allocating 4 GiB".
MeasureFailure cuda_failure(const CudaApi& cuda, CudaCode code, const std::string& doing);

// Throws unless `code` is success.
void require(const CudaApi& cuda, CudaCode code, const std::string& doing);

template <class T>
T require(const CudaApi& cuda, CudaResult<T> result, const std::string& doing)
{
    if (!result)
        throw cuda_failure(cuda, result.error(), doing);
    return *std::move(result);
}

// `comm` may be null. `who`: "rank 2 of all 8".
MeasureFailure nccl_failure(const NcclApi& nccl, NcclComm comm, NcclResult result,
                            const std::string& who, const std::string& doing);

// "1.5 s".
std::string seconds_text(std::chrono::milliseconds time);

} // namespace trainyard
