#include "calibrate/backends/host/rotating_memory.h"

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/discover/cpu_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace trainyard {
namespace {

constexpr std::size_t page = 4096;
constexpr Bytes assumed_cache(std::uint64_t{32} << 20); // where the system does not say

// New pages cost more than what most ops take; up to this, memory is kept for later work.
constexpr std::size_t worth_keeping = std::size_t{256} << 20;

// Ordinary numbers in every type: 0.0115 as float32 and bfloat16, 1.06 as float16.
constexpr int ordinary = 0x3c;

std::size_t rounded_up(std::size_t value, std::size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

} // namespace

void RotatingMemory::Release::operator()(std::byte* memory) const
{
    ::operator delete(memory, std::align_val_t(page));
}

// This process' fair part of what is free.
std::size_t RotatingMemory::share() const
{
    const Bytes free = free_memory();
    if (free == Bytes()) // unknown
        return std::numeric_limits<std::size_t>::max();
    return capacity_ + free.value() / static_cast<std::uint64_t>(limits_.sharers);
}

void RotatingMemory::divide(std::size_t bytes, std::optional<std::size_t> parts)
{
    bytes_ = bytes;
    const std::size_t some = std::max<std::size_t>(bytes, 1);
    stride_ = bytes < page ? whole_lines(some) : rounded_up(some, page);
    const std::size_t room = share();
    if (stride_ > room / parts.value_or(1))
        throw MeasureFailure{FailureKind::refused,
                             fmt::format("buffers of {} MiB do not fit into this rank's {} MiB of "
                                         "free memory",
                                         (stride_ >> 20) * parts.value_or(1), room >> 20),
                             "time smaller sizes, or use fewer ranks per host"};
    const Bytes cache = limits_.last_cache > Bytes() ? limits_.last_cache : assumed_cache;
    const std::size_t wanted = bytes == 0 ? 1 : 2 * cache.value() / stride_ + 1;
    parts_ = parts.value_or(std::clamp<std::size_t>(room / 2 / stride_, 1, wanted));

    const std::size_t needed = parts_ * stride_;
    if (needed > capacity_ || capacity_ > std::max(4 * needed, worth_keeping)) {
        memory_.reset();
        capacity_ = 0;
        memory_.reset(static_cast<std::byte*>(::operator new(needed, std::align_val_t(page))));
        capacity_ = needed;
    }
    std::memset(memory_.get(), ordinary, needed);
}

} // namespace trainyard
