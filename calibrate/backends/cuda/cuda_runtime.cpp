#include "calibrate/backends/cuda/cuda_runtime.h"

#include "calibrate/backends/cuda/kernels.h"
#include "calibrate/backends/cuda/plans.h"
#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/nccl/cuda_facts.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <exception>
#include <fstream>

namespace trainyard {

namespace {

// What `call` gives through its first argument.
template <class T, class Call>
CudaResult<T> given(Call call)
{
    T value{};
    if (const cudaError_t error = call(&value); error != cudaSuccess)
        return tl::unexpected(code_of(error));
    return value;
}

// 0 where the device has no such attribute.
int attribute(cudaDeviceAttr name, int device)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, name, device) != cudaSuccess)
        cudaGetLastError(); // else the next check of a kernel would report it
    return value;
}

std::string uuid_text(const cudaUUID_t& uuid, bool slice)
{
    std::string text = slice ? "MIG-" : "GPU-";
    for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

// The kernel module's own word; the runtime knows only which CUDA it supports.
std::string driver_text()
{
    std::ifstream file("/sys/module/nvidia/version");
    std::string version;
    std::getline(file, version);
    return version;
}

} // namespace

CudaResult<std::int64_t> counted(CudaStream stream,
                                 const std::function<cudaError_t(unsigned long long*)>& queue)
{
    void* memory = nullptr;
    unsigned long long count = 0;
    cudaError_t error = cudaMalloc(&memory, sizeof(count));
    auto* counter = static_cast<unsigned long long*>(memory);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(counter, 0, sizeof(count), stream);
    if (error == cudaSuccess)
        error = queue(counter);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&count, counter, sizeof(count), cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    cudaFree(counter);
    if (error != cudaSuccess)
        return tl::unexpected(code_of(error));
    return static_cast<std::int64_t>(count);
}

CudaRuntime::CudaRuntime() = default;

std::string CudaRuntime::error_text(CudaCode code) const
{
    if (code == CudaCode::no_driver)
        return "there is no NVIDIA driver";
    const auto error = static_cast<cudaError_t>(code);
    return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

CudaResult<int> CudaRuntime::device_count()
{
    const CudaResult<int> count = given<int>(cudaGetDeviceCount);
    int driver = 0; // stays 0 where there is none
    if (!count && count.error() == CudaCode::insufficient_driver &&
        cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return tl::unexpected(CudaCode::no_driver);
    return count;
}

CudaCode CudaRuntime::use_device(int index)
{
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess)
        error = cudaFree(nullptr); // makes the context now, where its errors are expected
    if (error != cudaSuccess)
        return code_of(error);
    index_ = index;
    constexpr int resident_blocks = 8; // 2,048 threads of an SM in blocks of 256
    filling_blocks_ = attribute(cudaDevAttrMultiProcessorCount, index) * resident_blocks;
    capability_ = attribute(cudaDevAttrComputeCapabilityMajor, index) * 10 +
                  attribute(cudaDevAttrComputeCapabilityMinor, index);
    try {
        cublas_ = open_cublas_lt();
    } catch (const MeasureFailure& failure) {
        no_cublas_ = failure.message + "; " + failure.fix;
    }
    return CudaCode::success;
}

CudaResult<CudaDevice> CudaRuntime::device()
{
    cudaDeviceProp properties{};
    CudaDevice out;
    std::array<char, 32> bus_id{};
    std::size_t free = 0;
    std::size_t total = 0;
    for (const cudaError_t error :
         {cudaGetDeviceProperties(&properties, index_),
          cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), index_),
          cudaMemGetInfo(&free, &total), cudaDriverGetVersion(&out.driver_version),
          cudaRuntimeGetVersion(&out.runtime_version)})
        if (error != cudaSuccess)
            return tl::unexpected(code_of(error));
    out.name = properties.name;
    out.uuid = uuid_text(properties.uuid, out.name.find(" MIG ") != std::string::npos);
    out.pci_bus_id = bus_id.data();
    out.driver = driver_text();
    out.capability = properties.major * 10 + properties.minor;
    out.multiprocessors = properties.multiProcessorCount;
    out.sm_clock_khz = attribute(cudaDevAttrClockRate, index_);
    out.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, index_);
    out.memory_bus_bits = properties.memoryBusWidth;
    out.ecc = properties.ECCEnabled != 0;
    out.exclusive = attribute(cudaDevAttrComputeMode, index_) == cudaComputeModeExclusiveProcess;
    out.memory = Bytes(total);
    out.free_memory = Bytes(free);
    out.last_cache = Bytes(static_cast<std::uint64_t>(properties.l2CacheSize));
    return out;
}

CudaResult<Bytes> CudaRuntime::free_memory()
{
    std::size_t free = 0;
    std::size_t total = 0;
    if (const cudaError_t error = cudaMemGetInfo(&free, &total); error != cudaSuccess)
        return tl::unexpected(code_of(error));
    return Bytes(free);
}

CudaResult<std::byte*> CudaRuntime::allocate(Bytes size)
{
    void* memory = nullptr;
    if (const cudaError_t error = cudaMalloc(&memory, size.value()); error != cudaSuccess) {
        cudaGetLastError(); // the caller may ask for less: the error is dealt with
        return tl::unexpected(code_of(error));
    }
    return static_cast<std::byte*>(memory);
}

CudaCode CudaRuntime::release(std::byte* memory)
{
    return code_of(cudaFree(memory));
}

CudaResult<CudaStream> CudaRuntime::make_stream()
{
    return given<cudaStream_t>([](cudaStream_t* stream) {
        return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    });
}

CudaCode CudaRuntime::destroy(CudaStream stream)
{
    return code_of(cudaStreamDestroy(stream));
}

CudaCode CudaRuntime::synchronize(CudaStream stream)
{
    return code_of(cudaStreamSynchronize(stream));
}

CudaResult<CudaEvent> CudaRuntime::make_event()
{
    return given<cudaEvent_t>([](cudaEvent_t* event) { return cudaEventCreate(event); });
}

CudaCode CudaRuntime::destroy(CudaEvent event)
{
    return code_of(cudaEventDestroy(event));
}

CudaCode CudaRuntime::record(CudaEvent event, CudaStream stream)
{
    return code_of(cudaEventRecord(event, stream));
}

CudaCode CudaRuntime::wait(CudaStream stream, CudaEvent event)
{
    return code_of(cudaStreamWaitEvent(stream, event, 0));
}

CudaResult<bool> CudaRuntime::done(CudaEvent event)
{
    const cudaError_t error = cudaEventQuery(event);
    if (error == cudaErrorNotReady) {
        cudaGetLastError(); // no error, but kept as one
        return false;
    }
    if (error != cudaSuccess)
        return tl::unexpected(code_of(error));
    return true;
}

CudaResult<Seconds> CudaRuntime::elapsed(CudaEvent from, CudaEvent to)
{
    float milliseconds = 0;
    if (const cudaError_t error = cudaEventElapsedTime(&milliseconds, from, to);
        error != cudaSuccess)
        return tl::unexpected(code_of(error));
    return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

CudaResult<CudaGraph> CudaRuntime::capture(CudaStream stream, const std::function<void()>& issue)
{
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return tl::unexpected(code_of(error));
    std::exception_ptr thrown;
    try {
        issue();
    } catch (...) {
        thrown = std::current_exception(); // the capture must end all the same
    }
    cudaGraph_t graph = nullptr;
    error = cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    if (error == cudaSuccess && !thrown)
        error = cudaGraphInstantiate(&executable, graph, 0);
    if (graph)
        cudaGraphDestroy(graph);
    if (thrown)
        std::rethrow_exception(thrown);
    if (error != cudaSuccess)
        return tl::unexpected(code_of(error));
    return executable;
}

CudaCode CudaRuntime::replay(CudaGraph graph, CudaStream stream)
{
    return code_of(cudaGraphLaunch(graph, stream));
}

CudaCode CudaRuntime::destroy(CudaGraph graph)
{
    return code_of(cudaGraphExecDestroy(graph));
}

Seconds CudaRuntime::host_time()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return Seconds(std::chrono::duration<double>(now).count());
}

CudaCode CudaRuntime::fill(std::byte* memory, const DataPattern& pattern, CudaStream stream)
{
    return code_of(queue_fill(memory, pattern, stream));
}

CudaResult<std::int64_t> CudaRuntime::count_wrong(const std::byte* memory,
                                                  const DataPattern& pattern, CudaStream stream)
{
    return counted(stream, [&](unsigned long long* counter) {
        return queue_check(memory, pattern, counter, stream);
    });
}

std::string CudaRuntime::cannot_multiply(const LocalWork& work) const
{
    if (work.m < 1 || work.n < 1 || work.k < 1 || work.batch < 1)
        return "a GEMM needs m, n, k and batch of at least 1";
    const std::string why = cannot_multiply_type(work, capability_);
    return why.empty() && !cublas_ ? no_cublas_ : why;
}

std::string CudaRuntime::cannot(const LocalWork& work) const
{
    switch (work.kind) {
    case LocalKind::attention_forward:
    case LocalKind::attention_backward:
        return "attention on NVIDIA GPUs is not timed here: profiles keep the constants of the "
               "device's file for it";
    case LocalKind::memory_add:
        return "sums in memory are timed on CPUs; copies say what a GPU's memory reaches";
    case LocalKind::gemm:
        return cannot_multiply(work);
    case LocalKind::launch:
    case LocalKind::launch_queued:
    case LocalKind::launch_graph:
    case LocalKind::issue:
        return {};
    case LocalKind::memory_read:
    case LocalKind::memory_write:
    case LocalKind::memory_copy:
    case LocalKind::host_to_device:
    case LocalKind::device_to_host:
        return work.size.value() < 16 ? "sizes below 16 B are no measure of memory" : "";
    }
    return "unknown work";
}

std::unique_ptr<DevicePlan> CudaRuntime::plan(const LocalWork& work)
{
    if (work.kind == LocalKind::gemm)
        return make_gemm_plan(*this, *cublas_, work);
    return make_memory_plan(*this, work);
}

} // namespace trainyard
