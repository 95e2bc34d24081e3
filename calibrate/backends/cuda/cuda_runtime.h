#pragma once

// CudaApi on the CUDA runtime.

#include "calibrate/backends/cuda/cublas_lt.h"
#include "calibrate/measure/nccl/cuda_api.h"

#include <cuda_runtime_api.h>

namespace trainyard {

inline CudaCode code_of(cudaError_t error)
{
    return static_cast<CudaCode>(error);
}

class CudaRuntime : public CudaApi {
public:
    CudaRuntime();

    std::string error_text(CudaCode code) const override;
    CudaResult<int> device_count() override;
    CudaCode use_device(int index) override;
    CudaResult<CudaDevice> device() override;

    CudaResult<Bytes> free_memory() override;
    CudaResult<std::byte*> allocate(Bytes size) override;
    CudaCode release(std::byte* memory) override;

    CudaResult<CudaStream> make_stream() override;
    CudaCode destroy(CudaStream stream) override;
    CudaCode synchronize(CudaStream stream) override;

    CudaResult<CudaEvent> make_event() override;
    CudaCode destroy(CudaEvent event) override;
    CudaCode record(CudaEvent event, CudaStream stream) override;
    CudaCode wait(CudaStream stream, CudaEvent event) override;
    CudaResult<bool> done(CudaEvent event) override;
    CudaResult<Seconds> elapsed(CudaEvent from, CudaEvent to) override;

    CudaResult<CudaGraph> capture(CudaStream stream, const std::function<void()>& issue) override;
    CudaCode replay(CudaGraph graph, CudaStream stream) override;
    CudaCode destroy(CudaGraph graph) override;

    Seconds host_time() override;

    CudaCode fill(std::byte* memory, const DataPattern& pattern, CudaStream stream) override;
    CudaResult<std::int64_t> count_wrong(const std::byte* memory, const DataPattern& pattern,
                                         CudaStream stream) override;

    std::string cannot(const LocalWork& work) const override;
    std::unique_ptr<DevicePlan> plan(const LocalWork& work) override;

    // Of the device in use: blocks that fill it, for kernels that stride over memory.
    int filling_blocks() const { return filling_blocks_; }

private:
    std::string cannot_multiply(const LocalWork& work) const;

    int index_ = 0;
    int filling_blocks_ = 0;
    int capability_ = 0; // 90: 9.0
    std::optional<CublasLt> cublas_;
    std::string no_cublas_;
};

// Counts what kernels find wrong: queue(counter) adds to it. Waits.
CudaResult<std::int64_t> counted(CudaStream stream,
                                 const std::function<cudaError_t(unsigned long long*)>& queue);

} // namespace trainyard
