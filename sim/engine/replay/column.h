#pragma once

// Columns of times that wide registers read and write whole.

#include "sim/engine/replay/kernels.h"

#include <new>
#include <vector>

namespace trainyard::engine::replay {

template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&)
    {}

    T* allocate(std::size_t count)
    {
        return static_cast<T*>(::operator new(count * sizeof(T), line));
    }
    void deallocate(T* at, std::size_t) { ::operator delete(at, line); }

    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }

private:
    static constexpr std::align_val_t line{64}; // of the cache: no register crosses one
};

inline constexpr std::size_t line_lanes = 8;

using Column = std::vector<Time, LineAllocator<Time>>;

// From one column to the next of so many lanes: whole lines, and no power of two, with which all
// columns would share the same few sets of the cache.
constexpr std::size_t column_stride(std::size_t lanes)
{
    return (lanes + line_lanes - 1) / line_lanes * line_lanes + (lanes >= 512 ? 40 : 0);
}

} // namespace trainyard::engine::replay
