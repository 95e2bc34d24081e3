#pragma once

// Memory of which every op takes another part, so that no op finds its buffers in a cache.

#include "sim/base/quantity.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace trainyard {

// Bytes rounded up, so that what follows begins at a cache line.
constexpr std::size_t whole_lines(std::size_t bytes)
{
    constexpr std::size_t line = 64;
    return (bytes + line - 1) / line * line;
}

struct MemoryLimits {
    Bytes last_cache; // of one core; 0: unknown
    int sharers = 1;  // processes that allocate from the same memory
};

class RotatingMemory {
public:
    explicit RotatingMemory(const MemoryLimits& limits) : limits_(limits) {}

    // Parts of `bytes` each, at cache lines or pages of their own and written once: `parts` of
    // them, else more than two last caches of them where memory allows. Throws MeasureFailure
    // (refused) where there is no room.
    void divide(std::size_t bytes, std::optional<std::size_t> parts = std::nullopt);

    std::size_t parts() const { return parts_; }
    std::span<std::byte> part(std::size_t index) const
    {
        return {memory_.get() + index * stride_, bytes_};
    }

private:
    struct Release {
        void operator()(std::byte* memory) const;
    };

    std::size_t share() const;

    MemoryLimits limits_;
    std::unique_ptr<std::byte, Release> memory_;
    std::size_t capacity_ = 0; // of memory_
    std::size_t bytes_ = 0;    // of a part
    std::size_t stride_ = 0;   // from part to part
    std::size_t parts_ = 0;
};

} // namespace trainyard
