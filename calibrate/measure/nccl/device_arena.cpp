#include "calibrate/measure/nccl/device_arena.h"

#include "calibrate/measure/nccl/collective_layout.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace trainyard {

DeviceArena::DeviceArena(CudaApi& cuda, Bytes slot, Bytes last_cache)
    : cuda_(&cuda), stride_(aligned(slot.value()))
{
    if (stride_ == 0)
        return;
    const Bytes free = require(cuda, cuda.free_memory(), "asking for the free memory");
    const std::uint64_t wanted = 2 * last_cache.value() / stride_ + 2;
    // A tenth stays for NCCL's buffers and for libraries.
    const std::uint64_t fitting = free.value() / 10 * 9 / stride_;
    slots_ = std::min(wanted, std::max<std::uint64_t>(fitting, 1));
    const auto doing = [&] {
        return fmt::format("allocating {} ({} are free)", to_text(Bytes(slots_ * stride_)),
                           to_text(free));
    };
    while (true) {
        const CudaResult<std::byte*> memory = cuda.allocate(Bytes(slots_ * stride_));
        if (memory) {
            memory_ = *memory;
            return;
        }
        if (memory.error() != CudaCode::out_of_memory || slots_ == 1)
            throw cuda_failure(cuda, memory.error(), doing());
        slots_ /= 2; // fragments, or another process was quicker
    }
}

DeviceArena::DeviceArena(DeviceArena&& other) noexcept
{
    *this = std::move(other);
}

DeviceArena& DeviceArena::operator=(DeviceArena&& other) noexcept
{
    std::swap(cuda_, other.cuda_);
    std::swap(memory_, other.memory_);
    std::swap(stride_, other.stride_);
    std::swap(slots_, other.slots_);
    return *this;
}

DeviceArena::~DeviceArena()
{
    if (memory_)
        cuda_->release(memory_);
}

std::byte* DeviceArena::slot(std::uint64_t op) const
{
    return memory_ ? memory_ + op % slots_ * stride_ : nullptr;
}

void DeviceArena::fill_random(ElementType type, CudaStream stream)
{
    if (!memory_)
        return;
    const DataPattern pattern{PatternKind::random, type,
                              slots_ * stride_ / static_cast<std::uint64_t>(element_bytes(type))};
    require(*cuda_, cuda_->fill(memory_, pattern, stream), "filling buffers");
}

} // namespace trainyard
