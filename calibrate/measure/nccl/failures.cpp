#include "calibrate/measure/nccl/failures.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

struct Advice {
    FailureKind kind;
    const char* fix;
};

Advice advice_on(CudaCode code)
{
    using enum FailureKind;
    switch (code) {
    case CudaCode::no_driver:
        return {missing, "install the NVIDIA driver; in a container, give it the GPUs (--gpus "
                         "all)"};
    case CudaCode::insufficient_driver:
        return {missing, "update the NVIDIA driver (nvidia-smi shows the CUDA it supports), or "
                         "build Trainyard with an older CUDA toolkit"};
    case CudaCode::no_device:
        return {missing, "look at nvidia-smi -L and CUDA_VISIBLE_DEVICES; in a container, give it "
                         "the GPUs (--gpus all)"};
    case CudaCode::driver_mismatch:
    case CudaCode::compatibility_not_supported:
        return {missing, "the loaded kernel driver and libcuda.so.1 differ: restart the machine "
                         "after the driver update, or take a CUDA compatibility package off "
                         "LD_LIBRARY_PATH"};
    case CudaCode::system_not_ready:
        return {missing, "start nvidia-fabricmanager of the driver's version: GPUs on NVSwitch "
                         "need it"};
    case CudaCode::initialization:
    case CudaCode::unknown:
        return {missing, "look at nvidia-smi and dmesg; after a suspend or an update, load the "
                         "module nvidia_uvm again"};
    case CudaCode::devices_unavailable:
        return {refused, "the GPU is in exclusive mode and another process has it: wait for that "
                         "process, or ask the administrator for compute mode Default"};
    case CudaCode::no_kernel_image:
    case CudaCode::unsupported_ptx:
        return {missing, "build the CUDA module for this GPU: add its compute capability to "
                         "TRAINYARD_CUDA_ARCHITECTURES"};
    case CudaCode::out_of_memory:
        return {refused, "free the GPU's memory (nvidia-smi shows who holds it) or measure smaller "
                         "sizes (--max-size)"};
    case CudaCode::ecc:
        return {broken, "the GPU has an uncorrectable memory error: see nvidia-smi -q -d ECC and "
                        "take it out of service"};
    case CudaCode::success:
    case CudaCode::invalid_value:
    case CudaCode::illegal_address:
    case CudaCode::launch_failure:
        break;
    }
    return {broken, "look at dmesg for Xid errors of the GPU"};
}

bool contains(const std::string& text, const char* part)
{
    return text.find(part) != std::string::npos;
}

Advice advice_on(NcclResult result, const std::string& said)
{
    using enum FailureKind;
    if (contains(said, "Duplicate GPU"))
        return {refused, "give every rank a GPU of its own (CUDA_VISIBLE_DEVICES, "
                         "--gpus-per-task); TRAINYARD_SHARE_GPU=1 lets ranks share one, for tests "
                         "of function only"};
    switch (result) {
    case NcclResult::unhandled_cuda_error:
        return {broken, "run again with NCCL_DEBUG=WARN; in a container give it shared memory "
                        "(--ipc=host or --shm-size=1g)"};
    case NcclResult::system_error:
        return {broken, "run again with NCCL_DEBUG=INFO; usual causes: no way between the hosts "
                        "(NCCL_SOCKET_IFNAME names the interface), a firewall, too little memory "
                        "that may be locked (ulimit -l unlimited)"};
    case NcclResult::invalid_argument:
    case NcclResult::invalid_usage:
        return {refused, "this NCCL does not do it here; NCCL_DEBUG=WARN says why"};
    case NcclResult::remote_error:
        return {broken, "a peer ended or lost its network: read that rank's message first"};
    case NcclResult::success:
    case NcclResult::internal_error:
    case NcclResult::in_progress:
        break;
    }
    return {broken, "run again with NCCL_DEBUG=INFO and read its last lines"};
}

} // namespace

MeasureFailure cuda_failure(const CudaApi& cuda, CudaCode code, const std::string& doing)
{
    const Advice advice = advice_on(code);
    return {advice.kind, fmt::format("CUDA, {}: {}", doing, cuda.error_text(code)), advice.fix};
}

void require(const CudaApi& cuda, CudaCode code, const std::string& doing)
{
    if (code != CudaCode::success)
        throw cuda_failure(cuda, code, doing);
}

std::string seconds_text(std::chrono::milliseconds time)
{
    return fmt::format("{} s", static_cast<double>(time.count()) * 1e-3);
}

MeasureFailure nccl_failure(const NcclApi& nccl, NcclComm comm, NcclResult result,
                            const std::string& who, const std::string& doing)
{
    const char* words = nccl.get_last_error(comm);
    const std::string last = words ? words : "";
    const Advice advice = advice_on(result, last);
    return {advice.kind,
            fmt::format("NCCL, {}, {}: {}{}{}", who, doing, nccl.get_error_string(result),
                        last.empty() ? "" : ": ", last),
            advice.fix};
}

} // namespace trainyard
