#include "calibrate/backends/cuda/kernels.h"
#include "calibrate/backends/cuda/plans.h"
#include "calibrate/measure/nccl/collective_layout.h"
#include "calibrate/measure/nccl/failures.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <cstring>

namespace trainyard {

namespace {

class EmptyKernelPlan : public DevicePlan {
public:
    Bytes slot() const override { return Bytes(0); }
    CudaCode launch(std::byte*, CudaStream stream) override { return code_of(queue_empty(stream)); }
    CudaResult<std::optional<std::int64_t>> wrong(std::byte*, CudaStream) override
    {
        return std::nullopt;
    }
};

// Of a kernel that strides over HBM. A copy's target lies behind its source.
class MemoryKernelPlan : public DevicePlan {
public:
    MemoryKernelPlan(CudaRuntime& cuda, const LocalWork& work)
        : kind_(work.kind), size_(work.size.value() / 16 * 16), blocks_(cuda.filling_blocks())
    {
        // Where the kernel stores what it read, which never happens.
        sink_ = require(cuda, cuda.allocate(Bytes(sizeof(unsigned))), "allocating a word");
    }
    ~MemoryKernelPlan() override { cudaFree(sink_); }

    Bytes slot() const override
    {
        return Bytes(kind_ == LocalKind::memory_copy ? aligned(size_) + size_ : size_);
    }

    CudaCode launch(std::byte* slot, CudaStream stream) override
    {
        if (kind_ == LocalKind::memory_read)
            return code_of(
                queue_read(slot, size_, blocks_, reinterpret_cast<unsigned*>(sink_), stream));
        if (kind_ == LocalKind::memory_write)
            return code_of(queue_write(slot, size_, blocks_, stream));
        return code_of(queue_copy(slot + aligned(size_), slot, size_, blocks_, stream));
    }

    CudaResult<std::optional<std::int64_t>> wrong(std::byte* slot, CudaStream stream) override
    {
        if (kind_ == LocalKind::memory_read)
            return std::nullopt;
        const CudaResult<std::int64_t> count = counted(stream, [&](unsigned long long* counter) {
            return kind_ == LocalKind::memory_write
                       ? queue_check_written(slot, size_, counter, stream)
                       : queue_compare(slot, slot + aligned(size_), size_, counter, stream);
        });
        return count.map([](std::int64_t wrong) { return std::optional(wrong); });
    }

private:
    LocalKind kind_;
    std::uint64_t size_;
    int blocks_;
    std::byte* sink_ = nullptr;
};

// Between the slot and pinned memory of the host's node.
class PinnedCopyPlan : public DevicePlan {
public:
    PinnedCopyPlan(CudaRuntime& cuda, const LocalWork& work)
        : to_device_(work.kind == LocalKind::host_to_device), size_(work.size.value())
    {
        require(cuda, code_of(cudaMallocHost(&pinned_, size_)),
                "pinning " + to_text(work.size) + " of the host's memory");
        auto* bytes = static_cast<unsigned char*>(pinned_);
        for (std::uint64_t i = 0; i < size_; ++i)
            bytes[i] = static_cast<unsigned char>(mixed_bits(i) % 255 + 1);
    }
    ~PinnedCopyPlan() override { cudaFreeHost(pinned_); }

    Bytes slot() const override { return Bytes(size_); }

    CudaCode launch(std::byte* slot, CudaStream stream) override
    {
        return code_of(to_device_
                           ? cudaMemcpyAsync(slot, pinned_, size_, cudaMemcpyHostToDevice, stream)
                           : cudaMemcpyAsync(pinned_, slot, size_, cudaMemcpyDeviceToHost, stream));
    }

    CudaResult<std::optional<std::int64_t>> wrong(std::byte* slot, CudaStream stream) override
    {
        // Kernels can read pinned memory: its address is the device's too.
        const CudaResult<std::int64_t> count = counted(stream, [&](unsigned long long* counter) {
            return queue_compare(slot, static_cast<const std::byte*>(pinned_), size_, counter,
                                 stream);
        });
        return count.map([](std::int64_t wrong) { return std::optional(wrong); });
    }

private:
    bool to_device_;
    std::uint64_t size_;
    void* pinned_ = nullptr;
};

} // namespace

std::unique_ptr<DevicePlan> make_memory_plan(CudaRuntime& cuda, const LocalWork& work)
{
    switch (work.kind) {
    case LocalKind::memory_read:
    case LocalKind::memory_write:
    case LocalKind::memory_copy:
        return std::make_unique<MemoryKernelPlan>(cuda, work);
    case LocalKind::host_to_device:
    case LocalKind::device_to_host:
        return std::make_unique<PinnedCopyPlan>(cuda, work);
    default:
        return std::make_unique<EmptyKernelPlan>();
    }
}

} // namespace trainyard
