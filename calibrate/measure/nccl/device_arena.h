#pragma once

// Device memory for the ops of a batch, each in a slot of its own.

#include "calibrate/measure/nccl/failures.h"

namespace trainyard {

class DeviceArena {
public:
    DeviceArena() = default;

    // As many slots of `slot` bytes as pass through more than twice the last cache before one is
    // used again, or as memory allows; at least one. Throws MeasureFailure where none fits.
    DeviceArena(CudaApi& cuda, Bytes slot, Bytes last_cache);
    DeviceArena(DeviceArena&& other) noexcept;
    DeviceArena& operator=(DeviceArena&& other) noexcept;
    ~DeviceArena();

    std::uint64_t slots() const { return slots_; }

    // Of the op with that number; null where slots have no bytes.
    std::byte* slot(std::uint64_t op) const;

    void fill_random(ElementType type, CudaStream stream);

private:
    CudaApi* cuda_ = nullptr;
    std::byte* memory_ = nullptr;
    std::uint64_t stride_ = 0;
    std::uint64_t slots_ = 0;
};

} // namespace trainyard
